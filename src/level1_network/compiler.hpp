// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "level1_network/compile.hpp"
#include "level1_network/memory_plan.hpp"
#include "level1_network/parameter_layout.hpp"

namespace d5 {

/// The work of `compile`: everything that is known about a graph until its plan is finished.
///
/// Time is counted in steps: forward step i happens at time i, backward step j at the number of
/// forward steps plus j.
class Compiler {
 public:
  static constexpr std::size_t kNoBlock = MemoryBlock::kForever;

  enum class Origin {
    fed,       ///< bound in each run
    constant,  ///< known now
    variable,  ///< a parameter, or a constant that runs update
    planned,   ///< in the arena
    dynamic,   ///< allocated while running
  };
  struct Slot {
    std::string name;
    ValueDesc desc;  ///< kind none or unknown dimensions: only running tells
    Origin origin = Origin::planned;
    Value* value = nullptr;
    std::size_t block = kNoBlock;

    // Backpropagation.
    bool wants_gradient = false;  ///< depends on something whose gradient is asked for
    bool reached = false;         ///< the loss depends on it
    Tensor* gradient = nullptr;   ///< in the plan
    std::size_t gradient_block = kNoBlock;
    std::size_t contributions = 0;
  };
  struct Step {
    const onnx::Node* node = nullptr;
    Operator* op = nullptr;
    NodeServices* services = nullptr;
    std::vector<Slot*> inputs, outputs;  ///< null: left out
    std::vector<Slot*> captured;
    std::vector<bool> differentiable, reads_input, reads_output;
    bool dynamic = false;
    int in_place = -1;
    std::size_t scratch_bytes = 0;
    std::size_t scratch_block = kNoBlock, backward_scratch_block = kNoBlock;
    std::vector<TensorDesc> saved;
    std::vector<std::size_t> saved_blocks;
    std::span<Tensor> saved_tensors;

    [[nodiscard]] std::size_t input_names() const {
      return inputs.size() - std::size_t(std::count(inputs.begin(), inputs.end(), nullptr));
    }
  };

  Compiler(const CompileRequest& request, RunState& state);
  [[nodiscard]] std::unique_ptr<Plan> compile();

 private:
  friend class BackwardCompiler;

  [[nodiscard]] Mode mode() const {
    return request_.loss.empty() ? Mode::inference : Mode::training;
  }
  Slot& define(const std::string& name);
  Slot* find(const std::string& name);
  Slot& at(const std::string& name);
  void define_sources();
  std::unique_ptr<Operator> choose(const onnx::Node& node, std::span<const ValueDesc> inputs,
                                   std::span<const Value* const> constants, bool all_static) const;
  void compile_node(const onnx::Node& node);
  std::size_t request_block(const TensorDesc& desc, std::size_t begin);
  std::size_t request_scratch(const Step& step, std::size_t time);
  void keep_until(const Slot& slot, std::size_t time);
  void share_blocks();
  void lay_out();
  void link_forward();
  void link_outputs();
  Tensor tensor_at(std::size_t block, const TensorDesc& desc) const;
  std::span<std::byte> bytes_at(std::size_t block) const;

  const CompileRequest& request_;
  RunState& state_;
  std::unique_ptr<Plan> plan_;
  std::deque<Slot> slots_;
  std::map<std::string, Slot*, std::less<>> by_name_;
  std::vector<Step> steps_;
  std::vector<MemoryBlock> blocks_;
};

}  // namespace d5

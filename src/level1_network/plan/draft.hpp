// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "level1_network/plan/compile.hpp"
#include "level1_network/plan/memory/memory_plan.hpp"

namespace d5 {

/// Intermediate form of a graph in `compile`; each phase adds its results.
///
/// Time is counted in steps: forward step i is at time i. Each backward step follows, preceded by
/// the steps that are recomputed for it.
struct Draft {
  static constexpr std::size_t kNoBlock = MemoryBlock::kForever;

  enum class Origin {
    fed,       ///< bound in each run
    constant,  ///< known now
    variable,  ///< a parameter, or a constant that runs update
    planned,   ///< in the arena
    dynamic,   ///< allocated while running
  };
  /// A value of the graph.
  struct Slot {
    std::string name;
    ValueDesc desc;  ///< kind none or unknown dimensions: known only at run time
    Origin origin = Origin::planned;
    Value* value = nullptr;  ///< in the plan
    std::size_t block = kNoBlock;
    const Slot* memory_of = nullptr;  ///< the constant that it updates in place

    // Backpropagation.
    bool wants_gradient = false;  ///< is or depends on a tensor whose gradient is needed
    bool reached = false;         ///< the loss depends on it
    Tensor* gradient = nullptr;   ///< in the plan
    std::size_t gradient_block = kNoBlock;
    std::size_t contributions = 0;
  };
  struct Step {
    // Resolved.
    const onnx::Node* node = nullptr;
    std::string path = {};  ///< `StepInfo::path`
    const Operator* op = nullptr;
    NodeServices* services = nullptr;
    std::vector<Slot*> inputs, outputs;               ///< null: left out
    NodeServices::Graphs graphs;                      ///< graphs that the node holds, or
                                                      ///< differentiates
    std::vector<Slot*> captured;                      ///< captures of the node's graphs, each once
    std::map<std::string, Slot*, std::less<>> scope;  ///< captured names, resolved
    std::vector<ValueDesc> input_descs, output_descs;
    std::vector<const Value*> constants;
    bool dynamic = false;       ///< its shapes are known only at run time
    bool planned_once = false;  ///< though dynamic: its kernel depends on no shape
    bool transfers = false;     ///< it brings a value to another device, or into another order
    // Gradients of the inputs and, after the last, of the captures.
    Places differentiable, grad_inputs;
    // Selected.
    Kernel* kernel = nullptr;
    KernelTraits traits;
    std::string_view framework;
    Device device = {};       ///< device of the kernel and of all its inputs and outputs
    Places accepted_layouts;  ///< inputs that it reads in any layout
    std::vector<std::shared_ptr<const Arrangement>> wanted_layouts;  ///< required layouts of
                                                                     ///< inputs, or null
    std::size_t scratch_bytes = 0;
    std::vector<TensorDesc> saved;
    bool recomputed = false;  ///< backward runs it again instead of keeping what it wrote
    // Laid out.
    std::size_t scratch_block = kNoBlock, backward_scratch_block = kNoBlock;
    std::vector<std::size_t> saved_blocks;
    std::span<Tensor> saved_tensors;
  };
  /// Memory of the gradient of `slot` in a step: its own, or a term that is added to it.
  struct GradientPlace {
    Slot* slot = nullptr;
    Tensor* tensor = nullptr;
    std::size_t block = kNoBlock;
    bool term = false;  ///< another reader has written the gradient before
  };
  struct BackwardStep {
    Step* forward;
    // Scheduled.
    std::size_t time = 0;
    std::vector<Step*> again = {};                 ///< run before it, one after another
    std::vector<Slot*> inputs = {}, outputs = {};  ///< the forward step's, or computed again
    Step* saver = nullptr;                         ///< the step whose saved tensors it reads
    // Laid out.
    /// One per input, then one per capture; a null slot needs none.
    std::vector<GradientPlace> places = {};
  };

  Draft(const CompileRequest& for_request, RunState& for_state);

  [[nodiscard]] bool goes_back() const { return !request.loss.empty() || !request.seeds.empty(); }
  Slot& define(const std::string& name);
  [[nodiscard]] Slot* find(const std::string& name);
  /// Throws: NotFound.
  [[nodiscard]] Slot& at(const std::string& name);
  /// Names of the steps in order of time: "conv1", "conv1 again", "gradient of conv1".
  [[nodiscard]] std::vector<std::string> names_of_steps() const;

  const CompileRequest& request;
  RunState& state;
  std::unique_ptr<Plan> plan;
  std::deque<Slot> slots;
  std::string path;  ///< path of the graph being resolved; empty: the network's
  std::map<std::string, Slot*, std::less<>> by_name;
  std::vector<Step> steps;
  std::deque<Step> kept;  ///< reorders of what runs leave alone; done when values have changed
  Slot* loss = nullptr;   ///< null where outputs are seeds
  std::map<std::string, Slot*, std::less<>> seeds;    ///< start of backward; the loss is one
  std::map<std::string, Slot*, std::less<>> asked;    ///< tensors whose gradients are wanted by
                                                      ///< name
  std::vector<BackwardStep> backward;                 ///< in execution order
  std::deque<Step> again;                             ///< steps that backward runs again
  std::deque<Slot> again_slots;                       ///< outputs of the recomputed steps
  std::map<std::string, Slot*, std::less<>> answers;  ///< slots of the network's outputs
  std::map<std::string, Slot*, std::less<>> updates;  ///< new value of each updated constant
  std::map<std::string, std::string, std::less<>>
      not_in_place;  ///< `PlannedUpdate::reason` of each
  std::vector<MemoryBlock> blocks;
  std::vector<Device> block_devices;  ///< device of each block
  std::map<Device, std::size_t> arena_bytes;
};

/// Resolves a name that a node's graph captures; null if nothing around it has the name.
[[nodiscard]] inline NodeServices::Captured captured(const Draft::Slot* slot) {
  if (!slot) return {};
  return {slot->value, slot->origin == Draft::Origin::constant};
}

}  // namespace d5

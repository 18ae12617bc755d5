// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "gradient_memory.hpp"
#include "planned_node.hpp"

namespace d5::torch {

/// Tensors of a forward run that hold autograd's graph for backward.
struct Recording {
  struct Output {
    at::Tensor value;
    const onnx::Node*
        broken_by;  ///< a node before it without gradient, where one is wanted; or null
  };
  std::map<std::string, Output, std::less<>> outputs;
  std::map<std::string, at::Tensor> asked;  ///< tensors whose gradients the options request
};

/// A network in a mode, as torch's own executor runs it: its nodes in order, and a torch tensor for
/// each value; tensors of inputs, constants and parameters use d5's memory.
class CompiledNetwork {
 public:
  /// Observers of a run; `ended` becomes true when one of them ends the run.
  struct Observers {
    std::span<ExecutionEvent* const> all;
    const bool& ended;
  };

  /// `ready(i)` is called as by `GradientMemory`. `options` and `operators` must outlive it.
  /// Throws: Unsupported if `operators` lacks one of the network's, with the first.
  CompiledNetwork(Network& network, NetworkMode mode, const ExecutorOptions& options,
                  const OperatorRegistry& operators, std::function<void(std::size_t)> ready);

  /// Throws: as `check_fed`.
  void feed(const Network& network, const ValueMap& inputs);
  /// Runs all steps on the fed inputs; returns the number that ran. Null `recording`: no backward.
  std::size_t run(const Random& random, const Observers& observers, Recording* recording);
  /// Writes the parameters' gradients, from those of outputs (undefined: one), and returns the
  /// requested ones. Throws: Unsupported if a node on a path has no gradient.
  using Gradients = std::map<std::string, Tensor, std::less<>>;
  [[nodiscard]] Gradients go_back(Recording& recording,
                                  const std::map<std::string, at::Tensor>& slopes);

  /// Replaces the tensor of an input by one of the same type and shape.
  void hold(const std::string& input, at::Tensor tensor);
  /// Output of the last run.
  [[nodiscard]] const at::Tensor& output(const std::string& name) const;
  /// Whether no shape depends on data; valid after a run.
  [[nodiscard]] bool shapes_are_known() const;

  [[nodiscard]] bool is_whole(std::size_t steps) const { return steps == steps_.size(); }
  /// Outputs computed by the first `steps` steps; after all steps the updates are carried out.
  [[nodiscard]] ValueMap finish(Network& network, std::size_t steps);

 private:
  using Fed = std::vector<std::pair<std::string, TensorDesc>>;
  struct Step {
    StepInfo info;
    PlannedNode planned;
    std::vector<int> finished = {};            // values that no later step reads
    std::vector<std::size_t> parameters = {};  // parameters that it reads, in the arena's order
    std::vector<std::string> asked = {};       // outputs with requested gradients
  };

  int place_of(const std::string& name);
  int place_of_known(const std::string& name);
  void add_steps(const OperatorRegistry& operators);
  void add_parameters();
  void find_asked();
  void find_last_uses(const Network& network);
  void forget_shapes(const Network& network);
  [[nodiscard]] bool fits(const ValueMap& inputs) const;
  void ask_for(const std::string& name, at::Tensor& value, Recording& recording);
  void record(Step& step, Recording& recording);
  void find_break(const Step& step);

  const ExecutorOptions& options_;
  GraphInMode runnable_;
  std::vector<Parameter> parameters_;  // keeps their memory
  std::map<std::string, int, std::less<>> places_;
  std::vector<Step> steps_;
  std::vector<std::string> asked_before_;  // requested gradients of tensors that no step writes
  std::vector<at::Tensor> values_;
  std::vector<KnownValue> known_;
  std::vector<const onnx::Node*> broken_by_;  // by index, as `Recording::Output`
  GradientMemory gradients_;
  std::map<std::string, std::size_t, std::less<>> input_places_;
  std::map<std::string, std::size_t> output_places_;
  std::optional<Fed> fed_;  // inputs of the last run
};

}  // namespace d5::torch

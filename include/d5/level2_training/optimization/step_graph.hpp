// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level2_training/data/batch_feed.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"

namespace d5 {

/// A whole training step as one graph: forward, loss, an ONNX Gradient node, and one `Update` node
/// of the domain d5 for each group of parameters. Everything that the step changes (parameters,
/// running statistics, the rule's state, the step number) is a constant of the graph that a run
/// overwrites, so `inference` of any executor is a training step. Its results are bitwise those of
/// `Optimizer::step`.
///
///     StepGraph(*optimizer).save("step.onnx");
///     StepGraph step = StepGraph::load("step.onnx");
///     step.hyper_parameters().set("learning_rate", 0.01);
///     step.step(batch).at("loss");
/// saves the current state
///
/// The file is an ONNX model that can be tested like any other, with the step as its training
/// information: `algorithm`, which reads the model's results, and `update_binding`.
///
/// Source: ONNX IR specification, TrainingInfoProto.
class StepGraph {
 public:
  /// Copies an optimizer's current state, with its executor's mode and frameworks; nothing is
  /// shared.
  /// Throws: Unsupported for an optimizer that is not a rule on single parameters, modifiers other
  /// than schedules (these set hyper-parameters from outside), gradients of several runs or ranks,
  /// nodes that draw random numbers (a Gradient node would draw them again), networks that read
  /// their own data.
  explicit StepGraph(Optimizer& optimizer);
  StepGraph(StepGraph&&) noexcept;
  StepGraph& operator=(StepGraph&&) noexcept;
  ~StepGraph();
  /// Loads a step from a file, including one that d5 did not write if d5 has its operators.
  /// Throws: IoError; FormatError (no training information, bindings of missing tensors);
  /// Unsupported.
  [[nodiscard]] static StepGraph load(const std::string& path, ExecutorOptions options = {});
  /// Throws: IoError, Unsupported.
  void save(const std::string& path) const;

  /// Runs one step on the inputs in `batch`. Returns the network's outputs, the loss among them,
  /// valid until the next step. Throws: NotFound (a missing input), ShapeError, TypeError.
  const ValueMap& step(const Batch& batch);
  /// Number of steps, including the optimizer's; 0 if the graph has no step counter.
  [[nodiscard]] std::int64_t steps() const;

  /// Hyper-parameters of the rule; empty for a file written by another tool.
  [[nodiscard]] HyperParameters& hyper_parameters() { return *hyper_parameters_; }
  /// Output that is differentiated; empty if a file has no Gradient node or several.
  [[nodiscard]] const std::string& loss() const { return loss_; }
  /// Trained parameters, in the optimizer's order.
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// Network of the step; `network().fetch(NAME)` is a parameter's value, `updates()` the bindings.
  [[nodiscard]] Network& network() const { return *network_; }
  /// Executor of forward and backward.
  [[nodiscard]] GraphExecutor& executor() { return *executor_; }
  /// The network without its loss, for tests, with the current values.
  [[nodiscard]] Network inference() const;

 private:
  struct Halves;
  StepGraph();
  /// Identifies rules, loss and parameters in the graph.
  void take(Network step, ExecutorOptions options);
  void take_rule(const onnx::Node& node);
  const ValueMap& step_in_halves();

  /// A hyper-parameter that is an input of the graph.
  struct Number {
    double* value;
    std::string input;
  };
  std::unique_ptr<Network> network_;
  std::unique_ptr<GraphExecutor> executor_;
  std::unique_ptr<Halves> halves_;  // only for a step that d5 made
  std::unique_ptr<HyperParameters> hyper_parameters_;
  std::vector<std::shared_ptr<UpdateRule>> rules_;  // owners of the options in `hyper_parameters_`
  std::vector<Number> numbers_;
  std::vector<std::string> parameters_;
  std::string loss_, counter_;
  std::shared_ptr<const onnx::ModelFile> inference_;
  BatchFeed feed_;
  Batch fed_;
};

/// Registers `d5.Update`, an optimizer's rule as an operator of every network
/// (docs/reference/level2.md). `StepGraph` calls it; repeated calls have no effect.
void add_update_operator();

}  // namespace d5

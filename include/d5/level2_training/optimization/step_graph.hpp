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

/// A whole training step as one graph: forward, loss, a Gradient node of ONNX, an `Update` of the
/// domain d5 for each group of parameters. What the step changes (parameters, running statistics,
/// what the rule remembers, the step's number) are constants of the graph that a run overwrites, so
/// that any executor's `inference` of it is a step. Its bits are those of `Optimizer::step`.
///
///     StepGraph(*optimizer).save("step.onnx");
///     StepGraph step = StepGraph::load("step.onnx");
///     step.hyper_parameters().set("learning_rate", 0.01);
///     step.step(batch).at("loss");
///     step.save("step.onnx");  // as it stands
///
/// The file is an ONNX model that is tested as any other, with the step as its training
/// information: `algorithm`, which reads what the model computes, and `update_binding`.
///
/// Source: ONNX IR specification, TrainingInfoProto.
class StepGraph {
 public:
  /// Of an optimizer as it stands, in its executor's mode and frameworks; nothing is shared with
  /// it. Throws: Unsupported for an optimizer that is no rule of one parameter, modifiers other
  /// than schedules (which set hyper-parameters from outside), gradients of several runs or ranks,
  /// nodes that draw random numbers (a Gradient node draws anew), networks that pull their data.
  explicit StepGraph(Optimizer& optimizer);
  StepGraph(StepGraph&&) noexcept;
  StepGraph& operator=(StepGraph&&) noexcept;
  ~StepGraph();
  /// A file's, also one that d5 did not write, as long as d5 has its operators. Throws: IoError,
  /// FormatError (no training information, bindings of what is not there), Unsupported.
  [[nodiscard]] static StepGraph load(const std::string& path, ExecutorOptions options = {});
  /// Throws: IoError, Unsupported.
  void save(const std::string& path) const;

  /// One step on the inputs in `batch`. Returns the network's outputs, the loss among them; valid
  /// until the next one. Throws: NotFound (an input missing), ShapeError, TypeError.
  const ValueMap& step(const Batch& batch);
  /// Steps that were made, those of the optimizer among them; 0 where nobody counts.
  [[nodiscard]] std::int64_t steps() const;

  /// Of the rule's options; none where another tool wrote the file.
  [[nodiscard]] HyperParameters& hyper_parameters() { return *hyper_parameters_; }
  /// The output that is differentiated; empty where a file has no Gradient or several.
  [[nodiscard]] const std::string& loss() const { return loss_; }
  /// What the step trains, in the order of the optimizer.
  [[nodiscard]] const std::vector<std::string>& parameters() const { return parameters_; }
  /// The step itself; `network().fetch(NAME)` is a parameter's value, `updates()` the bindings.
  [[nodiscard]] Network& network() const { return *network_; }
  /// Which runs forward and backward.
  [[nodiscard]] GraphExecutor& executor() { return *executor_; }
  /// The network without its loss, for tests, with values as they are now.
  [[nodiscard]] Network inference() const;

 private:
  struct Halves;
  StepGraph();
  /// Finds in the graph what it is: its rules, loss and parameters.
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
  std::unique_ptr<Halves> halves_;  // of a step that d5 made
  std::unique_ptr<HyperParameters> hyper_parameters_;
  std::vector<std::shared_ptr<UpdateRule>> rules_;  // whose options those are
  std::vector<Number> numbers_;
  std::vector<std::string> parameters_;
  std::string loss_, counter_;
  std::shared_ptr<const onnx::ModelFile> inference_;
  BatchFeed feed_;
  Batch fed_;
};

/// Makes the node `d5.Update`, an optimizer's rule, an operator of every network
/// (docs/reference/level2.md). A `StepGraph` does it by itself; to be called again costs nothing.
void add_update_operator();

}  // namespace d5

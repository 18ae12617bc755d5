// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level0_ops/subgraph_runner.hpp"
#include "level1_network/plan/plan_cache.hpp"

namespace d5 {

/// A graph that a node holds, compiled for the values that it is given.
///
/// Of a run that will be gone back through it keeps the inputs alone: backward runs it again.
class NestedGraph final : public SubgraphRunner {
 public:
  using Lookup = std::function<const Value*(const std::string&)>;
  /// Where the gradients of captured values are added up; who is not here wants none.
  using Gradients = std::map<const Value*, Tensor*>;
  /// `outer` finds the values that the graph captures; they and `gradients` outlive this object.
  NestedGraph(std::shared_ptr<const onnx::Graph> graph, Mode mode, RunState& state,
              const Gradients& gradients, const Lookup& outer);

  [[nodiscard]] std::size_t input_count() const override { return graph_->inputs.size(); }
  [[nodiscard]] std::size_t output_count() const override { return graph_->outputs.size(); }
  std::vector<Value> run(std::span<const Value> inputs) override;
  void keep_runs(Places grad_inputs) override;
  std::vector<Tensor> run_backward(std::span<const Tensor> grad_outputs) override;

 private:
  struct KeptRun {
    std::vector<Value> inputs;
    std::uint64_t number;  ///< of nested runs before it: random numbers depend on it
  };
  using Bound = std::map<std::string, const Value*, std::less<>>;

  [[nodiscard]] Bound bind(std::span<const Value> inputs) const;
  /// The plan that ran forward on `bound`; `seeds` are the outputs to go back from.
  Plan& run_forward(const Bound& bound, const std::set<std::string>& seeds);
  [[nodiscard]] std::set<std::string> wanted_gradients(const Bound& bound) const;

  std::shared_ptr<const onnx::Graph> graph_;
  Mode mode_;
  RunState& state_;
  const Gradients& gradients_;
  std::vector<std::pair<std::string, const Value*>> captured_;
  PlanCache plans_;
  bool keeps_ = false;
  Places grad_inputs_;
  std::vector<KeptRun> kept_;
  std::vector<Parameter> no_parameters_;  ///< those of the network are captured
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/subgraph_runner.hpp"
#include "level0_ops/kernels/recycled_tensors.hpp"
#include "level1_network/plan/plan_cache.hpp"
#include "level1_network/plan/run_state.hpp"

namespace d5 {

/// A graph that a node holds, compiled once for each set of input shapes. A steady-state run
/// allocates nothing except what its steps allocate.
///
/// For backward it keeps only the inputs: backward runs the graph forward again.
class NestedGraph final : public SubgraphRunner {
 public:
  using Lookup = NodeServices::Lookup;
  /// Accumulators for gradients of captured values; values that are missing need none.
  using Gradients = std::map<const Value*, Tensor*>;
  /// `path`: of the node and the attribute, "If_0/then_branch". `outer` resolves the values that
  /// the graph captures; they and `gradients` must outlive this object.
  NestedGraph(std::shared_ptr<const onnx::Graph> graph, std::string path, Mode mode,
              RunState& state, const Gradients& gradients, const Lookup& outer);
  ~NestedGraph() override;
  NestedGraph(const NestedGraph&) = delete;
  NestedGraph& operator=(const NestedGraph&) = delete;

  [[nodiscard]] std::size_t input_count() const override { return graph_->inputs.size(); }
  [[nodiscard]] std::size_t output_count() const override { return graph_->outputs.size(); }
  std::span<Value> run(std::span<const Value> inputs) override;
  void keep_runs(Places grad_inputs) override;
  std::vector<Tensor> run_backward(std::span<const Tensor> grad_outputs) override;

  /// Frees all plans except the running one, when memory is short.
  void give_up_idle_plans();

 private:
  struct KeptRun {
    std::vector<Value> inputs;
    std::uint64_t number;  ///< number of earlier nested runs: random numbers depend on it
  };
  using Inputs = std::span<const Value>;
  using Seeds = std::set<std::string>;

  void expect_inputs(Inputs inputs) const;
  /// Input `place`; indices after the last are captures.
  [[nodiscard]] const Value& bound(Inputs inputs, std::size_t place) const;
  [[nodiscard]] const std::string& bound_name(std::size_t place) const;
  /// The plan for a forward run on `inputs`; `seeds` are the outputs that backward starts from.
  Plan& plan_for(Inputs inputs, const Seeds& seeds);
  [[nodiscard]] std::unique_ptr<Plan> make_plan(Inputs inputs, const Seeds& seeds) const;
  void run_forward(Plan& plan, Inputs inputs);
  [[nodiscard]] Seeds wanted_gradients(Inputs inputs) const;
  const Value& own(const Tensor& tensor, detail::RecycledTensors& memory) const;

  std::shared_ptr<const onnx::Graph> graph_;
  const std::string path_, what_;  ///< the graph, and its results, in messages
  Mode mode_;
  RunState& state_;
  const Gradients& gradients_;
  std::vector<std::pair<std::string, const Value*>> captured_;
  std::vector<std::pair<std::string, const Value*>> constants_;  ///< captured, too
  PlanCache plans_;
  const Plan* running_ = nullptr;
  std::vector<Value> results_;
  std::vector<detail::RecycledTensors> result_memory_;  ///< one per output
  bool keeps_ = false;
  Places grad_inputs_;
  std::vector<KeptRun> kept_;
  mutable std::vector<Parameter> no_parameters_;  ///< parameters of the network are captured
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "d5/level0_ops/subgraph_runner.hpp"
#include "level1_network/plan_cache.hpp"

namespace d5 {

/// A graph that a node holds, compiled for the values that it is given.
class NestedGraph final : public SubgraphRunner {
 public:
  using Lookup = std::function<const Value*(const std::string&)>;
  /// `outer` finds the values that the graph captures; they outlive this object.
  NestedGraph(std::shared_ptr<const onnx::Graph> graph, RunState& state, const Lookup& outer);

  [[nodiscard]] std::size_t input_count() const override { return graph_->inputs.size(); }
  [[nodiscard]] std::size_t output_count() const override { return graph_->outputs.size(); }
  std::vector<Value> run(std::span<const Value> inputs) override;

 private:
  std::shared_ptr<const onnx::Graph> graph_;
  RunState& state_;
  std::vector<std::pair<std::string, const Value*>> captured_;
  PlanCache plans_;
};

}  // namespace d5

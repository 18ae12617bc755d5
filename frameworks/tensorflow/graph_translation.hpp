// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "d5/level1_network/graph/model_walk.hpp"
#include "graph.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

/// Translates an ONNX graph, node by node, to one TensorFlow graph.
class GraphTranslation {
 public:
  /// `differentiable`: gradients will be computed. Throws: as `compile_graph`.
  GraphTranslation(const onnx::Graph& graph, const Translators& translators, bool differentiable);

  [[nodiscard]] Graph& graph() { return graph_; }
  /// In the graph's order.
  [[nodiscard]] const Terms& inputs() const { return inputs_; }
  /// Throws: NotFound.
  [[nodiscard]] Term term(const std::string& name);

 private:
  void add_node(const PlanContext& node, const Translators& translators);

  ModelWalk walk_;
  Graph graph_;
  std::map<std::string, Term> terms_;  ///< constants are added on first use
  Terms inputs_;
};

}  // namespace d5::tensorflow

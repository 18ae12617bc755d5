// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/core/value.hpp"
#include "d5/onnx/model.hpp"
#include "graph.hpp"
#include "translators.hpp"

namespace d5::tensorflow {

/// A graph of ONNX in TensorFlow's operations, node by node, in one graph of TensorFlow's.
class GraphTranslation {
 public:
  /// `differentiable`: gradients will be asked for. Throws: as `compile_graph`.
  GraphTranslation(const onnx::Graph& graph, const Translators& translators, bool differentiable);

  [[nodiscard]] Graph& graph() { return graph_; }
  /// In the graph's order.
  [[nodiscard]] const Terms& inputs() const { return inputs_; }
  /// Throws: NotFound.
  [[nodiscard]] Term term(const std::string& name);
  [[nodiscard]] const TensorDesc& desc(const std::string& name) const;

 private:
  /// What is known of a tensor: its description; its value, if that is constant; and its place in
  /// the graph, once somebody reads it there.
  struct Known {
    ValueDesc desc;
    Value value = {};
    Term term = {};
  };

  void add_node(const onnx::Node& node, const Translators& translators, bool differentiable);
  void fold(const onnx::Node& node);
  [[nodiscard]] Known& known(const std::string& name);

  Graph graph_;
  std::map<std::string, Known> tensors_;
  Terms inputs_;
};

}  // namespace d5::tensorflow

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/graph/differentiated_inputs.hpp"

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/visitor.hpp"

namespace d5 {

DifferentiatedInputs::DifferentiatedInputs(const onnx::Node& node) {
  const auto& registry = framework("reference").part<OperatorRegistry>();
  if (!registry.has_operator(node)) return;
  try {
    op_ = registry.make(node);
  } catch (const Error&) {
    cannot_be_made_ = true;
  }
}

bool DifferentiatedInputs::contains(std::size_t place) const {
  return !cannot_be_made_ && (!op_ || op_->gradients().contains(place));
}

TensorNames differentiated_among(const onnx::Graph& graph, const TensorNames& candidates) {
  TensorNames result;
  for (const auto& node : graph.nodes) {
    const DifferentiatedInputs differentiated(node);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (candidates.contains(node.inputs[i]) && differentiated.contains(i)) {
        result.insert(node.inputs[i]);
      }
    }
    if (!differentiated.contains(node.inputs.size())) continue;
    for (const auto& [attribute, subgraph] : onnx::subgraphs(node)) {
      TensorNames captured;
      for (auto& name : onnx::captured_names(*subgraph)) {
        if (candidates.contains(name)) captured.insert(std::move(name));
      }
      result.merge(differentiated_among(*subgraph, captured));
    }
  }
  return result;
}

}  // namespace d5

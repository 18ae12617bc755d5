// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/value_descs.hpp"

#include <vector>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace d5 {
namespace {

/// Adds what is known of a node's outputs.
void infer(const onnx::Node& node, const onnx::Graph& graph, ValueDescs& known) {
  std::vector<ValueDesc> inputs(node.inputs.size());
  std::vector<Value> values(node.inputs.size());
  std::vector<const Value*> constants(node.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!node.has_input(i)) continue;
    const auto desc = known.find(node.inputs[i]);
    if (desc == known.end()) return;
    inputs[i] = desc->second;
    const auto constant = graph.initializers.find(node.inputs[i]);
    if (constant == graph.initializers.end()) continue;
    values[i] = constant->second.on_host();
    constants[i] = &values[i];
  }
  try {
    const auto outputs = operator_for(node)->infer(InferContext(node, inputs, constants));
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      if (node.has_output(k) && outputs[k].is_static()) known[node.outputs[k]] = outputs[k];
    }
  } catch (const Error&) {  // whoever runs the network is told
  }
}

}  // namespace

ValueDescs infer_values(const onnx::Graph& graph,
                        const std::function<std::int64_t(const onnx::Dim&)>& size_of) {
  ValueDescs known;
  for (const auto& [name, type] : graph.inputs) {
    if (type.kind != ValueKind::tensor || !type.has_shape) continue;
    Shape shape;
    for (const onnx::Dim& dim : type.dims) {
      const auto* size = std::get_if<std::int64_t>(&dim);
      shape.push_back(size ? *size : size_of(dim));
    }
    known[name] = TensorDesc{type.dtype, shape};
  }
  return infer_values(graph, std::move(known));
}

ValueDescs infer_values(const onnx::Graph& graph, ValueDescs known) {
  for (const auto& [name, value] : graph.initializers) known[name] = value.desc();
  for (const auto& node : graph.nodes) infer(node, graph, known);
  return known;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/output_types.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {
namespace {

using Descs = std::map<std::string, ValueDesc, std::less<>>;

/// Nothing where a size is open.
std::optional<ValueDesc> desc_of(const onnx::Type& type) {
  if (type.kind != ValueKind::tensor || !type.has_shape) return std::nullopt;
  Shape shape;
  for (const onnx::Dim& dim : type.dims) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    if (!size) return std::nullopt;
    shape.push_back(*size);
  }
  return TensorDesc{type.dtype, shape};
}

/// Adds what is known of a node's outputs.
void infer(const onnx::Node& node, const onnx::Graph& graph, Descs& known) {
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

void declare_custom_outputs(onnx::Graph& graph) {
  if (std::ranges::all_of(graph.nodes,
                          [](const auto& node) { return onnx::schema_of(node).has_value(); })) {
    return;
  }
  Descs known;
  for (const auto& input : graph.inputs) {
    if (const auto desc = desc_of(input.type)) known[input.name] = *desc;
  }
  for (const auto& [name, value] : graph.initializers) known[name] = value.desc();
  for (const auto& node : graph.nodes) infer(node, graph, known);
  for (auto& output : graph.outputs) {
    const auto desc = known.find(output.name);
    if (output.type.kind != ValueKind::none || desc == known.end()) continue;
    if (!desc->second.is_tensor()) continue;
    output.type.kind = ValueKind::tensor;
    output.type.dtype = desc->second.tensor.dtype;
    output.type.has_shape = true;
    for (const std::int64_t size : desc->second.tensor.shape) output.type.dims.emplace_back(size);
  }
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/node_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/schema.hpp"
#include "d5/onnx/visitor.hpp"
#include "onnx/tensor_type.hpp"

namespace d5::detail {
namespace {

onnx::Type type_of(const ValueDesc& desc) {
  if (desc.is_static()) return tensor_type(desc.tensor);
  onnx::Type type;
  type.kind = desc.kind;
  type.dtype = desc.tensor.dtype;
  if (desc.element) type.element = std::make_shared<const onnx::Type>(type_of(*desc.element));
  return type;
}

/// Whether the value of input `i` determines a shape of the outputs.
bool decides_shapes(const PlanContext& context, std::size_t i) {
  std::vector<ValueDesc> inputs(context.input_count());
  std::vector<const Value*> constants(context.input_count());
  for (std::size_t j = 0; j < inputs.size(); ++j) {
    if (context.has_input(j)) inputs[j] = context.value(j);
    if (j != i) constants[j] = context.constant_value(j);
  }
  const auto outputs = context.op().infer(InferContext(context.node(), inputs, constants));
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    if (!context.wants_output(k) || !outputs[k].is_tensor()) continue;
    if (!outputs[k].is_static() && context.output_value(k).is_static()) return true;
  }
  return false;
}

void import_opsets(onnx::Model& model, const onnx::Node& node) {
  onnx::Visitor visitor;
  visitor.otherwise(
      [&](const onnx::Node& inner) { model.opset_imports.try_emplace(inner.domain, inner.opset); });
  for (const auto& [name, graph] : onnx::subgraphs(node)) visitor.visit(*graph);
}

}  // namespace

int oldest_opset(const onnx::Node& node) {
  const auto schema = onnx::schema_of(node);
  return schema && onnx::subgraphs(node).empty() ? schema->since : node.opset;
}

NodeModel node_model(const PlanContext& context) {
  const onnx::Node& original = context.node();
  NodeModel result;
  onnx::Graph& graph = result.model.graph;
  graph.name = original.op_type;
  onnx::Node node = original;
  node.name.clear();  // equal nodes have equal models
  node.doc.clear();
  node.opset = result.model.opset_imports[node.domain] = oldest_opset(original);
  import_opsets(result.model, original);
  // A value that is used several times becomes several inputs.
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!context.has_input(i)) {
      node.inputs[i].clear();
      continue;
    }
    node.inputs[i] = fmt::format("input_{}", i);
    const Value* known = context.constant_value(i);
    if (known && known->is_tensor() && decides_shapes(context, i)) {
      graph.initializers[node.inputs[i]] = known->tensor();
    } else {
      graph.inputs.push_back({node.inputs[i], type_of(context.value(i))});
      result.inputs.push_back(i);
    }
  }
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (!context.wants_output(k)) continue;
    node.outputs[k] = fmt::format("output_{}", k);
    graph.outputs.push_back({node.outputs[k], type_of(context.output_value(k))});
    result.outputs.push_back(k);
  }
  graph.nodes.push_back(std::move(node));
  return result;
}

}  // namespace d5::detail

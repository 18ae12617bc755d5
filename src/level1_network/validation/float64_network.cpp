// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/float64_network.hpp"

#include "core/tensor/float64.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level1_network/nodes/element_type_attributes.hpp"

namespace d5 {
namespace {

Tensor converted(const Tensor& tensor) {
  return may_be_trained(tensor.dtype()) ? detail::to_float64(tensor) : tensor;
}

onnx::Type converted(onnx::Type type) {
  if (may_be_trained(type.dtype)) type.dtype = DType::float64;
  if (type.element) type.element = std::make_shared<onnx::Type>(converted(*type.element));
  return type;
}

onnx::Graph converted(onnx::Graph graph);

std::shared_ptr<const onnx::Graph> converted(const std::shared_ptr<const onnx::Graph>& graph) {
  return std::make_shared<onnx::Graph>(converted(*graph));
}

onnx::Attribute converted(const onnx::Node& node, const std::string& name,
                          const onnx::Attribute& attribute) {
  if (const auto* tensor = std::get_if<Tensor>(&attribute)) return converted(*tensor);
  if (const auto* graph = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute)) {
    return converted(*graph);
  }
  const auto* number = std::get_if<std::int64_t>(&attribute);
  if (number && names_element_type(node, name) && may_be_trained(static_cast<DType>(*number))) {
    return static_cast<std::int64_t>(DType::float64);
  }
  return attribute;
}

onnx::Graph converted(onnx::Graph graph) {
  for (auto* infos : {&graph.inputs, &graph.outputs}) {
    for (auto& info : *infos) info.type = converted(std::move(info.type));
  }
  graph.values.clear();  // declared for the old types
  for (auto& [name, tensor] : graph.initializers) tensor = converted(tensor);
  for (auto& node : graph.nodes) {
    spell_as_tensor(node);
    for (auto& [name, attribute] : node.attributes) attribute = converted(node, name, attribute);
  }
  return graph;
}

}  // namespace

Network in_float64(const Network& network) {
  onnx::Model model = network.model();
  model.graph = converted(std::move(model.graph));
  return Network(std::move(model));
}

ValueMap in_float64(const ValueMap& values) {
  ValueMap result;
  for (const auto& [name, value] : values) {
    result[name] = value.is_tensor() ? Value(converted(value.tensor())) : value;
  }
  return result;
}

}  // namespace d5

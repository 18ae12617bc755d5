// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/shorter_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/tensor/float64.hpp"
#include "d5/core/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level1_network/nodes/element_type_attributes.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {

Tensor detail::shortened(const Tensor& value, DType dtype, const std::string& name) {
  Tensor result = converted(value, dtype);
  const Tensor before = to_float64(value), after = to_float64(result);
  for (std::int64_t i = 0; i < value.elements(); ++i) {
    const double number = before.data<double>()[i];
    if (!std::isfinite(number) || std::isfinite(after.data<double>()[i])) continue;
    throw ValueError(
        fmt::format("'{}' holds {:.3g}, which {} cannot; choose a type with a larger range, such "
                    "as bfloat16, or give it a smaller number",
                    printable(name), number, name_of(dtype)));
  }
  return result;
}

DType detail::type_at(const ElementTypes& types, std::string_view name) {
  const auto type = types.find(name);
  return type == types.end() ? DType::undefined : type->second;
}

ShorterNode::ShorterNode(const onnx::Node& node, const ElementTypes& types, DType shorter)
    : node_(node), shorter_(shorter) {
  const auto schema = onnx::schema_of(node);
  if (!schema) {
    obstacle_ = "ONNX does not say what types it takes";
  } else if (!onnx::subgraphs(node).empty()) {
    obstacle_ = "it holds graphs";
  } else {
    read(*schema, types);
  }
  if (!obstacle_.empty()) inputs_.clear(), outputs_.clear();
}

onnx::Node ShorterNode::node() const {
  return outputs_.empty() ? node_ : with_attributes().value_or(node_);
}

void ShorterNode::read(const onnx::Schema& schema, const ElementTypes& types) {
  const auto is_single = [&](const std::string& name) {
    return detail::type_at(types, name) == DType::float32;
  };
  // A cast from one float to another, or to integers, is there for its precision.
  if (node_.op_type == "Cast" && is_floating_point(detail::type_at(types, node_.inputs.front())))
    return;
  std::set<std::string> words;  // of ONNX for types that become shorter
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
    const std::string& name = node_.inputs[i];
    if (name.empty()) continue;
    if (!types.contains(name)) {
      obstacle_ = fmt::format("the type of '{}' is not known", printable(name));
      return;
    }
    const auto* parameter = onnx::parameter(schema.inputs, i);
    if (!is_single(name) || !allowed(parameter)) continue;
    inputs_.insert(i);
    if (!parameter->type.empty()) words.insert(parameter->type);
  }
  for (std::size_t k = 0; k < node_.outputs.size(); ++k) {
    const auto* parameter = onnx::parameter(schema.outputs, k);
    if (!is_single(node_.outputs[k]) || !allowed(parameter)) continue;
    if (!words.contains(parameter->type) && !with_attributes()) {
      obstacle_ =
          fmt::format("it makes '{}' float32 of its own accord", printable(node_.outputs[k]));
      return;
    }
    outputs_.insert(k);
  }
  if (!changes() && std::ranges::any_of(node_.inputs, is_single)) {
    obstacle_ = fmt::format("opset {} does not have it in {}", node_.opset, name_of(shorter_));
  }
}

bool ShorterNode::allowed(const onnx::Parameter* parameter) const {
  return parameter &&
         std::ranges::find(parameter->element_types, shorter_) != parameter->element_types.end();
}

std::optional<onnx::Node> ShorterNode::with_attributes() const {
  onnx::Node result = node_;
  spell_as_tensor(result);
  bool any = false;
  for (auto& [name, attribute] : result.attributes) {
    auto* tensor = std::get_if<Tensor>(&attribute);
    if (tensor && tensor->dtype() == DType::float32) {
      *tensor = detail::shortened(*tensor, shorter_, first_output(node_));
      any = true;
    }
    const auto* number = std::get_if<std::int64_t>(&attribute);
    if (number && names_element_type(node_, name) && DType(*number) == DType::float32) {
      attribute = std::int64_t(shorter_);
      any = true;
    }
  }
  return any ? std::optional(std::move(result)) : std::nullopt;
}

}  // namespace d5

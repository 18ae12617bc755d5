// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/shorter_node.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/element_type_attributes.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/nodes/shorter_numbers.hpp"

namespace d5 {

DType detail::type_at(const ElementTypes& types, std::string_view name) {
  const auto type = types.find(name);
  return type == types.end() ? DType::undefined : type->second;
}

ShorterNode::ShorterNode(const onnx::Node& node, const ElementTypes& types, const LostNumbers& lost,
                         DType shorter)
    : node_(node), shorter_(shorter) {
  const auto schema = onnx::schema_of(node);
  if (!schema) {
    obstacle_ = "ONNX does not define its types";
  } else if (!onnx::subgraphs(node).empty()) {
    obstacle_ = "it holds graphs";
  } else {
    read(*schema, types, lost);
    if (changes()) look_at_epsilon();
  }
  if (!obstacle_.empty()) inputs_.clear(), outputs_.clear();
}

void ShorterNode::stay(const std::string& reason) {
  obstacle_ = changes() ? reason : "";
  lost_.clear();
  inputs_.clear();
  outputs_.clear();
}

onnx::Node ShorterNode::node() const {
  return outputs_.empty() ? node_ : with_attributes().value_or(node_);
}

void ShorterNode::look_at_epsilon() {
  const auto* epsilon = node_.attribute<float>("epsilon");
  if (!epsilon) return;
  const std::string what = detail::lost_in(Tensor::scalar(*epsilon), shorter_);
  if (!what.empty()) obstacle_ = "its epsilon " + what;
}

void ShorterNode::read(const onnx::Schema& schema, const ElementTypes& types,
                       const LostNumbers& lost) {
  const auto is_single = [&](const std::string& name) {
    return detail::type_at(types, name) == DType::float32;
  };
  // A cast from a floating-point type sets the precision on purpose.
  if (node_.op_type == "Cast" && is_floating_point(detail::type_at(types, node_.inputs.front())))
    return;
  std::set<std::string> words;  // type variables of ONNX that become shorter
  for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
    const std::string& name = node_.inputs[i];
    if (name.empty()) continue;
    if (!types.contains(name)) {
      obstacle_ = fmt::format("the type of '{}' is not known", printable(name));
      return;
    }
    const auto* parameter = onnx::parameter(schema.inputs, i);
    if (!is_single(name) || !allowed(parameter)) continue;
    if (const auto place = lost.find(name); place != lost.end()) {
      lost_ = name;
      obstacle_ = fmt::format("'{}' {}", printable(name), place->second);
      return;
    }
    inputs_.insert(i);
    if (!parameter->type.empty()) words.insert(parameter->type);
  }
  for (std::size_t k = 0; k < node_.outputs.size(); ++k) {
    const auto* parameter = onnx::parameter(schema.outputs, k);
    if (!is_single(node_.outputs[k]) || !allowed(parameter)) continue;
    if (!words.contains(parameter->type) && !with_attributes()) {
      obstacle_ = fmt::format("it always writes '{}' as float32", printable(node_.outputs[k]));
      return;
    }
    if (lost.contains(node_.outputs[k])) return outputs_.clear();  // a constant of its own
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
      *tensor = detail::shortened(*tensor, shorter_);
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

// SPDX-License-Identifier: Apache-2.0
#include "onnx/opset/opset_step.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::onnx::detail {

void refuse_conversion(const Node& node, const std::string& reason) {
  throw Unsupported(fmt::format("{}: {}", describe(node), reason));
}

void OpsetStep::add(Node node) {
  if (node.opset < version_) node.opset = version_;
  for (const auto& name : node.inputs) names_.read.insert(name);
  made_.push_back(std::move(node));
}

void OpsetStep::add(const std::string& op_type, std::vector<std::string> inputs,
                    std::vector<std::string> outputs,
                    std::map<std::string, Attribute, std::less<>> attributes) {
  Node node;
  node.op_type = op_type;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  add(std::move(node));
}

std::string OpsetStep::constant(const std::string& stem, Tensor value) {
  std::string name = unused_name(stem);
  scope_.values[name] = value;
  add("Constant", {}, {name}, {{"value", std::move(value)}});
  return name;
}

std::string OpsetStep::unused_name(const std::string& stem) {
  std::string name = stem;
  for (int i = 2; !names_.taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

void OpsetStep::set_input(Node& node, std::size_t i, const std::string& name, Tensor value) {
  if (node.inputs.size() <= i) node.inputs.resize(i + 1);
  node.inputs[i] = constant(fmt::format("{}.{}", node.outputs.front(), name), std::move(value));
}

const Type* OpsetStep::type(std::string_view name) const {
  for (const ConversionScope* scope = &scope_; scope; scope = scope->outer) {
    if (const auto place = scope->types.find(name); place != scope->types.end()) {
      return &place->second;
    }
  }
  return nullptr;
}

const Tensor* OpsetStep::value(std::string_view name) const {
  for (const ConversionScope* scope = &scope_; scope; scope = scope->outer) {
    if (const auto place = scope->values.find(name); place != scope->values.end()) {
      return &place->second;
    }
    if (scope->types.contains(name)) return nullptr;
  }
  return nullptr;
}

std::size_t OpsetStep::rank(const Node& node, std::string_view name) const {
  const Type* known = type(name);
  if (!known || !known->has_shape) {
    refuse_conversion(node, fmt::format("the rank of '{}' is unknown, and its meaning in opset "
                                        "{} depends on that; declare the shapes of all inputs",
                                        printable(name), version_));
  }
  return known->dims.size();
}

DType OpsetStep::dtype(const Node& node, std::string_view name) const {
  const Type* known = type(name);
  if (!known || known->dtype == DType::undefined) {
    refuse_conversion(node, fmt::format("the element type of '{}' is unknown; declare the types "
                                        "of all inputs",
                                        printable(name)));
  }
  return known->dtype;
}

}  // namespace d5::onnx::detail

// SPDX-License-Identifier: Apache-2.0
#include "bound_arguments.hpp"

#include <ATen/core/jit_type.h>

#include <algorithm>
#include <optional>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5::torch {
namespace {

using c10::TypeKind;

/// The same value as a list; a schema writes a list of one number like a number.
template <class T>
std::optional<std::vector<T>> list_of(const onnx::Attribute& attribute) {
  if (const auto* one = std::get_if<T>(&attribute)) return std::vector<T>{*one};
  if (const auto* many = std::get_if<std::vector<T>>(&attribute)) return *many;
  return std::nullopt;
}

std::optional<c10::IValue> number_of(const onnx::Attribute& attribute) {
  if (const auto* integer = std::get_if<std::int64_t>(&attribute)) return c10::IValue(*integer);
  if (const auto* real = std::get_if<float>(&attribute)) return c10::IValue(double(*real));
  return std::nullopt;
}

std::optional<c10::IValue> list_value(const c10::Type& element, const onnx::Attribute& attribute) {
  const auto integers = list_of<std::int64_t>(attribute);
  if (integers && element.kind() == TypeKind::IntType) return c10::IValue(*integers);
  if (integers && element.kind() == TypeKind::BoolType) {
    c10::List<bool> booleans;
    for (const std::int64_t value : *integers) booleans.push_back(value != 0);
    return c10::IValue(booleans);
  }
  if (element.kind() != TypeKind::FloatType) return std::nullopt;
  std::vector<double> reals;
  if (integers) {
    reals.assign(integers->begin(), integers->end());
  } else if (const auto floats = list_of<float>(attribute)) {
    reals.assign(floats->begin(), floats->end());
  } else {
    return std::nullopt;
  }
  return c10::IValue(reals);
}

/// Empty if the attribute has another type.
std::optional<c10::IValue> value_of(const c10::Type& type, const onnx::Attribute& attribute) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
      return value_of(*type.expectRef<c10::OptionalType>().getElementType(), attribute);
    case TypeKind::ListType:
      return list_value(*type.expectRef<c10::ListType>().getElementType(), attribute);
    case TypeKind::NumberType:
      return number_of(attribute);
    case TypeKind::FloatType: {
      const auto number = number_of(attribute);
      if (number && number->isInt()) return c10::IValue(double(number->toInt()));
      return number;
    }
    case TypeKind::IntType:
      if (const auto* value = std::get_if<std::int64_t>(&attribute)) return c10::IValue(*value);
      return std::nullopt;
    case TypeKind::BoolType:
      if (const auto* value = std::get_if<std::int64_t>(&attribute))
        return c10::IValue(*value != 0);
      return std::nullopt;
    case TypeKind::StringType:
      if (const auto* value = std::get_if<std::string>(&attribute)) return c10::IValue(*value);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_tensor(const c10::Type& type) { return type.kind() == TypeKind::TensorType; }
bool is_tensor_or_none(const c10::Type& type) {
  return type.kind() == TypeKind::OptionalType &&
         is_tensor(*type.expectRef<c10::OptionalType>().getElementType());
}
bool is_tensor_list(const c10::Type& type) {
  return type.kind() == TypeKind::ListType &&
         is_tensor(*type.expectRef<c10::ListType>().getElementType());
}

}  // namespace

BoundArguments::BoundArguments(const c10::FunctionSchema& function, const onnx::Node& node) {
  std::size_t next = 0, attributes = 0;
  if (const auto* overload = node.attribute<std::string>("overload")) {
    if (*overload != function.overload_name()) throw ValueError("it is another overload");
    ++attributes;
  }
  for (const c10::Argument& argument : function.arguments()) {
    const c10::Type& type = *argument.type();
    const bool left_out = next >= node.inputs.size() || !node.has_input(next);
    if (is_tensor_list(type)) {
      arguments_.emplace_back(AllInputs{next});
      next = node.inputs.size();
    } else if (is_tensor_or_none(type) && left_out) {
      arguments_.emplace_back(c10::IValue());
      ++next;
    } else if (is_tensor(type) || is_tensor_or_none(type)) {
      if (left_out) throw ValueError("it needs an input '" + argument.name() + "'");
      arguments_.emplace_back(OneInput{next++});
    } else if (const auto given = node.attributes.find(argument.name());
               given != node.attributes.end()) {
      auto value = value_of(type, given->second);
      if (!value) throw ValueError("attribute '" + argument.name() + "' must be " + type.str());
      arguments_.emplace_back(std::move(*value));
      ++attributes;
    } else if (argument.default_value() || type.kind() == TypeKind::OptionalType) {
      arguments_.emplace_back(argument.default_value().value_or(c10::IValue()));
    } else {
      throw ValueError("it needs an attribute '" + argument.name() + "', " + type.str());
    }
  }
  if (next < node.inputs.size()) {
    throw ValueError("it takes no more than " + std::to_string(next) + " inputs");
  }
  if (attributes < node.attributes.size()) throw ValueError("it does not take all the attributes");
}

::torch::jit::Stack BoundArguments::stack(Inputs inputs) const {
  ::torch::jit::Stack stack;
  for (const auto& argument : arguments_) {
    if (const auto* one = std::get_if<OneInput>(&argument)) {
      stack.emplace_back(inputs[one->index]);
    } else if (const auto* all = std::get_if<AllInputs>(&argument)) {
      stack.emplace_back(std::vector<at::Tensor>(
          inputs.begin() + std::ptrdiff_t(std::min(all->from, inputs.size())), inputs.end()));
    } else {
      stack.push_back(std::get<c10::IValue>(argument));
    }
  }
  return stack;
}

}  // namespace d5::torch

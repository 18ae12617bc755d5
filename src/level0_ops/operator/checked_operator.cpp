// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/checked_operator.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::detail {
namespace {

using onnx::Parameter;

std::string range(int least, int most) {
  if (least == most) return fmt::format("{}", least);
  if (most == std::numeric_limits<int>::max()) return fmt::format("{} or more", least);
  return fmt::format("{} to {}", least, most);
}

/// `what` is "input" or "output".
void check_values(const onnx::Node& node, std::string_view what,
                  const std::vector<std::string>& names, const std::vector<Parameter>& parameters,
                  int least, int most) {
  // Missing required values are reported by name, before the number of values.
  const std::size_t count = std::max(names.size(), parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter* one = onnx::parameter(parameters, i);
    if (!one || one->optional || (i < names.size() && !names[i].empty())) continue;
    if (one->variadic && i >= names.size()) continue;
    throw ShapeError(
        fmt::format("{}: {} {} ({}) is missing", onnx::describe(node), what, i, one->name));
  }
  if (int(names.size()) < least || int(names.size()) > most) {
    throw ShapeError(fmt::format("{}: {} {}{} {} given, expected {}", onnx::describe(node),
                                 names.size(), what, names.size() == 1 ? "" : "s",
                                 names.size() == 1 ? "is" : "are", range(least, most)));
  }
}

void check_attributes(const onnx::Node& node, const onnx::Schema& schema) {
  for (const auto& [name, value] : node.attributes) {
    if (schema.attributes.contains(name)) continue;
    std::vector<std::string> known;
    for (const auto& [other, kind] : schema.attributes) known.push_back(other);
    throw_unknown_name(fmt::format("{}: attribute", onnx::describe(node)), name, known);
  }
}

/// The name of an input in messages on types; variadic ones by index.
std::string name_of_input(const Parameter& parameter, std::size_t i) {
  return parameter.variadic ? fmt::format("input {}", i) : parameter.name;
}

void check_type(const InferContext& context, const Parameter& parameter, std::size_t i) {
  const ValueDesc& value = context.value(i);
  const auto takes = [&](ValueKind kind) {
    return std::ranges::find(parameter.kinds, kind) != parameter.kinds.end();
  };
  if (!takes(value.kind)) {
    if (takes(ValueKind::optional)) return;  // a plain value counts as its own element
    std::vector<std::string_view> kinds;
    for (const ValueKind kind : parameter.kinds) kinds.push_back(name_of(kind));
    throw TypeError(fmt::format("{}: {} is {}, expected a {}", context.who(),
                                name_of_input(parameter, i), to_string(value),
                                fmt::join(kinds, " or ")));
  }
  const auto& types = parameter.element_types;
  const DType type = value.tensor.dtype;
  const auto allows = [&](DType one) { return std::ranges::find(types, one) != types.end(); };
  if (!value.is_tensor() || allows(type)) return;
  // Gradients and rounding are checked in float64, also for operators without that type.
  if (type == DType::float64 && allows(DType::float32)) return;
  std::vector<std::string_view> names;
  for (const DType known : types) names.push_back(name_of(known));
  throw TypeError(fmt::format("{}: {} is {}, expected {} in opset {}", context.who(),
                              name_of_input(parameter, i), name_of(type), fmt::join(names, ", "),
                              context.node().opset));
}

void check_same_type(const InferContext& context, const Parameter& other, std::size_t k,
                     const Parameter& one, std::size_t i) {
  const ValueDesc &a = context.value(k), &b = context.value(i);
  if (a.kind == b.kind && (!a.is_tensor() || a.tensor.dtype == b.tensor.dtype)) return;
  const auto word = [](const ValueDesc& value) {
    return value.is_tensor() ? name_of(value.tensor.dtype) : name_of(value.kind);
  };
  throw TypeError(fmt::format("{}: {} is {} but {} is {}; they must have one type", context.who(),
                              name_of_input(one, i), word(b), name_of_input(other, k), word(a)));
}

void check_inputs(const InferContext& context, const onnx::Schema& schema) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    const Parameter* one = onnx::parameter(schema.inputs, i);
    if (!one || (one->optional && !context.has_input(i))) continue;
    check_type(context, *one, i);
    if (one->type.empty()) continue;
    for (std::size_t k = 0; k < i; ++k) {
      const Parameter* other = onnx::parameter(schema.inputs, k);
      if (!context.has_input(k) || other->type != one->type) continue;
      check_same_type(context, *other, k, *one, i);
      break;
    }
  }
}

/// An operator that checks its schema before it is called.
class CheckedOperator final : public Operator {
 public:
  CheckedOperator(std::unique_ptr<Operator> op, onnx::Schema schema)
      : op_(std::move(op)), schema_(std::move(schema)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    check_inputs(context, schema_);
    std::vector<ValueDesc> outputs = op_->infer(context);
    for (const ValueDesc& output : outputs) {  // before strides are computed from the sizes
      if (output.kind == ValueKind::tensor && output.tensor.shape.is_static()) {
        (void)output.tensor.shape.elements();
      }
    }
    return outputs;
  }
  Places gradients() const override { return op_->gradients(); }
  Cost cost(const InferContext& context) const override { return op_->cost(context); }
  std::optional<Cost> gradient_cost(const InferContext& context, Places wanted) const override {
    return op_->gradient_cost(context, wanted);
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return plan_with_gradient(context, [&](PlanContext& own) { return op_->plan(own); });
  }

 private:
  std::unique_ptr<Operator> op_;
  onnx::Schema schema_;
};

}  // namespace

std::unique_ptr<Operator> make_checked(const OperatorRegistry::Make& make, const onnx::Node& node) {
  auto schema = onnx::schema_of(node);
  if (!schema) return make(node);
  check_values(node, "input", node.inputs, schema->inputs, schema->least_inputs,
               schema->most_inputs);
  check_values(node, "output", node.outputs, schema->outputs, schema->least_outputs,
               schema->most_outputs);
  check_attributes(node, *schema);
  return std::make_unique<CheckedOperator>(make(node), std::move(*schema));
}

}  // namespace d5::detail

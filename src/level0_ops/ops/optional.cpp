// SPDX-License-Identifier: Apache-2.0
// Optional, OptionalHasElement, OptionalGetElement: values that may be missing.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::ops {
namespace {

/// What holds of every value of a declared type; the shape of tensors is left open.
ValueDesc describe(const onnx::Type& type) {
  if (type.kind == ValueKind::tensor) return TensorDesc{type.dtype, {}};
  if (type.kind == ValueKind::sequence && type.element) {
    return ValueDesc::sequence_of(describe(*type.element));
  }
  return {};
}

class OptionalOperator final : public Operator {
 public:
  explicit OptionalOperator(const onnx::Node& node) {
    if (const auto type = onnx::nodes::Optional(node).type()) type_ = describe(*type);
  }
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {ValueDesc::optional_of(context.has_input(0) ? context.value(0) : type_)};
  }
  void forward(OpContext& context) override {
    Optional result{type_, nullptr};
    if (context.has_input(0)) {
      const Value& value = context.input_value(0);
      result.element = value.desc();
      // A tensor of the plan lives shorter than the optional.
      result.value =
          std::make_shared<const Value>(value.is_tensor() ? Value(value.tensor().copy()) : value);
    }
    context.set_output(0, std::move(result));
  }

 private:
  ValueDesc type_;
};

class OptionalHasElement final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext&) const override {
    return {TensorDesc{DType::boolean, Shape{}}};
  }
  void forward(OpContext& context) override {
    bool has = context.has_input(0) && context.input_value(0).kind() != ValueKind::none;
    if (has && context.input_value(0).kind() == ValueKind::optional) {
      has = context.input_value(0).optional().value != nullptr;
    }
    *context.output(0).data<bool>() = has;
  }
};

/// A value that is no optional is its own element.
class OptionalGetElement final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const ValueDesc& x = context.value(0);
    return {x.kind == ValueKind::optional ? ValueDesc{} : x};
  }
  void forward(OpContext& context) override {
    const Value& x = context.input_value(0);
    if (x.is_tensor()) {
      Tensor& y = context.allocate(0, x.tensor().desc());
      detail::copy_elements(y.dtype(), y.raw(), x.tensor().raw(), y.elements());
    } else if (x.kind() != ValueKind::optional) {
      context.set_output(0, x);
    } else if (x.optional().value) {
      context.set_output(0, *x.optional().value);
    } else {
      throw ValueError(
          fmt::format("{}: the optional is empty; ask OptionalHasElement first", context.who()));
    }
  }
};

}  // namespace

void register_optional(OperatorRegistry& registry) {
  registry.add<OptionalOperator>("Optional", {.since = 15});
  registry.add<OptionalHasElement>("OptionalHasElement", {.since = 15});
  registry.add<OptionalGetElement>("OptionalGetElement", {.since = 15});
}

}  // namespace d5::ops

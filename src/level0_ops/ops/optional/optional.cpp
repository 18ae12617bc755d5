// SPDX-License-Identifier: Apache-2.0
// Optional, OptionalHasElement, OptionalGetElement: values that may be missing.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/moving/stack_values.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// The description of a declared type, with unknown shapes of tensors.
ValueDesc describe(const onnx::Type& type) {
  if (type.kind == ValueKind::tensor) return TensorDesc{type.dtype, {}};
  if (type.kind == ValueKind::sequence && type.element) {
    return ValueDesc::sequence_of(describe(*type.element));
  }
  return {};
}

class OptionalOperator final : public MovingOperator {
 public:
  explicit OptionalOperator(const nodes::Optional& view) {
    if (const auto type = view.type()) type_ = describe(*type);
  }
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {ValueDesc::optional_of(context.has_input(0) ? context.value(0) : type_)};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([type = type_](OpContext& context) {
      Optional result{type, nullptr};
      if (context.has_input(0)) {
        const Value& value = context.input_value(0);
        result.element = value.desc();
        // Copied, because a tensor of the plan may not outlive the run.
        result.value = std::make_shared<const Value>(
            value.is_tensor() ? Value(detail::copy_of(context.services(), value.tensor())) : value);
      }
      context.set_output(0, std::move(result));
    });
  }

 private:
  ValueDesc type_;
};

class OptionalHasElement final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext&) const override {
    return {TensorDesc{DType::boolean, Shape{}}};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return detail::forward_kernel([](OpContext& context) {
      bool has = context.has_input(0) && context.input_value(0).kind() != ValueKind::none;
      if (has && context.input_value(0).kind() == ValueKind::optional) {
        has = context.input_value(0).optional().value != nullptr;
      }
      *context.output(0).data<bool>() = has;
    });
  }
};

/// A plain tensor, which is its own element, has a gradient; the content of an optional has none.
class GetElementKernel final : public Kernel {
 public:
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
  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    detail::copy_elements(dy.dtype(), context.grad_input(0).raw(), dy.raw(), dy.elements());
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }
};

/// A value that is not an optional is its own element.
class OptionalGetElement final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const ValueDesc& x = context.value(0);
    return {x.kind == ValueKind::optional ? ValueDesc{} : x};
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<GetElementKernel>();
  }
  Places gradients() const override { return {0}; }
};

}  // namespace

void register_optional(OperatorRegistry& registry) {
  registry.add<OptionalOperator, nodes::Optional>();
  registry.add<OptionalHasElement, nodes::OptionalHasElement>();
  registry.add<OptionalGetElement, nodes::OptionalGetElement>();
}

}  // namespace d5::ops

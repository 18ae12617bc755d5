// SPDX-License-Identifier: Apache-2.0
// Where: selects elements of two inputs by a condition.
#include <fmt/format.h>

#include <array>
#include <concepts>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/broadcast.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

/// In forward, T moves like the element type.
template <class T>
class WhereKernel final : public Kernel {
 public:
  explicit WhereKernel(const PlanContext& context)
      : loop_(detail::broadcast_loop(context.output(0).shape,
                                     {&context.shape(0), &context.shape(1), &context.shape(2)})) {
    for (const std::size_t i : {1, 2}) {
      if (!context.wants_grad(i)) continue;
      sums_[i - 1].emplace(
          detail::broadcast_loop(context.output(0).shape, {&context.shape(i), &context.shape(0)}),
          context.shape(i).elements());
    }
  }

  void forward(OpContext& context) override {
    const std::int64_t step_c = loop_.step(1), step_x = loop_.step(2), step_y = loop_.step(3);
    const bool* c = context.input(0).data<bool>();
    const T* x = static_cast<const T*>(context.input(1).raw());
    const T* y = static_cast<const T*>(context.input(2).raw());
    T* z = static_cast<T*>(context.output(0).raw());
    loop_.run([=](const detail::StridedLoop::Offsets& at, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        z[at[0] + i] = c[at[1] + i * step_c] ? x[at[2] + i * step_x] : y[at[3] + i * step_y];
      }
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const bool* c = context.input(0).data<bool>();
      for (const std::size_t i : {1, 2}) {
        if (!context.wants_grad(i)) continue;
        const bool chosen = i == 1;
        sums_[i - 1]->run(context.grad_input(i).data<T>(), context.grad_output(0).data<T>(),
                          [=](auto k, auto) { return T(c[k] == chosen); });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  detail::StridedLoop loop_;
  std::array<std::optional<detail::GradientSum>, 2> sums_;  // gradients of X and Y
};

/// Shapes: condition, X and Y are broadcast to the output.
class Where final : public MovingOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.dtype(0) != DType::boolean) {
      throw TypeError(fmt::format("{}: the condition is {}, expected bool", context.who(),
                                  name_of(context.dtype(0))));
    }
    detail::expect_same_types(context, 1, 3);
    return {TensorDesc{context.dtype(1), detail::broadcast_inputs(context, 0, 3)}};
  }

  Places gradients() const override { return {1, 2}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::moving_kernel_for(context.dtype(1), context, [&]<class T>() {
      return std::make_unique<WhereKernel<T>>(context);
    });
  }
};

}  // namespace

void register_where(OperatorRegistry& registry) { registry.add<Where, onnx::nodes::Where>(); }

}  // namespace d5::ops

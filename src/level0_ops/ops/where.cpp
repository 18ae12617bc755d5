// SPDX-License-Identifier: Apache-2.0
// Where: an element of the one or the other input, as a condition says.
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

/// Shapes: condition, X and Y are broadcast to the output.
class Where final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.dtype(0) != DType::boolean) {
      throw TypeError(fmt::format("{}: the condition is {}, expected bool", context.who(),
                                  name_of(context.dtype(0))));
    }
    detail::expect_same_types(context, 1, 3);
    return {TensorDesc{context.dtype(1), detail::broadcast_inputs(context, 0, 3)}};
  }

  void forward(OpContext& context) override {
    const Tensor &condition = context.input(0), &x = context.input(1), &y = context.input(2);
    Tensor& z = context.output(0);
    const auto loop =
        detail::broadcast_loop(z.shape(), {&condition.shape(), &x.shape(), &y.shape()});
    const std::int64_t step_c = loop.step(1), step_x = loop.step(2), step_y = loop.step(3);
    const bool* c = condition.data<bool>();
    detail::dispatch_by_size(z.dtype(), [&]<class T>() {
      T* to = static_cast<T*>(z.raw());
      const T *yes = static_cast<const T*>(x.raw()), *no = static_cast<const T*>(y.raw());
      loop.run([=](const detail::StridedLoop::Offsets& at, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i) {
          to[at[0] + i] = c[at[1] + i * step_c] ? yes[at[2] + i * step_x] : no[at[3] + i * step_y];
        }
      });
    });
  }

  void backward(GradContext& context) override {
    const Tensor& dz = context.grad_output(0);
    const Tensor& condition = context.input(0);
    dispatch(RealTypes{}, dz.dtype(), "Where", [&]<class T>() {
      for (const std::size_t i : {1, 2}) {
        if (!context.wants_grad(i)) continue;
        Tensor& grad = context.grad_input(i);
        const auto loop = detail::broadcast_loop(dz.shape(), {&grad.shape(), &condition.shape()});
        const bool chosen = i == 1;
        detail::accumulate_gradient<T>(
            loop, grad, dz, condition.data<bool>(), static_cast<const T*>(nullptr),
            [chosen](const bool* c, const T*) { return *c == chosen ? T(1) : T(0); });
      }
    });
  }

  bool differentiable(std::size_t input) const override { return input != 0; }
  bool backward_needs_input(std::size_t input) const override { return input == 0; }
  bool backward_needs_output(std::size_t) const override { return false; }
};

}  // namespace

void register_where(OperatorRegistry& registry) { registry.add<Where>("Where", {.since = 9}); }

}  // namespace d5::ops

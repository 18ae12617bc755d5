// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"

// Elementwise operators with one input.
//
// The function has `value(x)` and, if it is differentiable, its slope: `slope_at(y)` if the output
// determines it, so that the input need not be kept, otherwise `slope(x)`.
namespace d5::detail {

template <class F>
inline constexpr bool kSlopeFromOutput = requires(const F& f) { f.slope_at(0.0f); };
template <class F>
inline constexpr bool kHasSlope = kSlopeFromOutput<F> || requires(const F& f) { f.slope(0.0f); };

template <class F, class T>
class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(const F& function, std::int64_t elements)
      : function_(function), elements_(elements) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    Result* y = context.output(0).data<Result>();
    parallel_for(elements_, kElementGrain, [=, f = function_](std::int64_t i, std::int64_t end) {
      for (; i < end; ++i) y[i] = Result(f.value(arithmetic(x[i])));
    });
  }

  void backward(GradContext& context) override {
    if constexpr (kHasSlope<F> && std::floating_point<T>) {
      const Tensor& point = kSlopeFromOutput<F> ? context.output(0) : context.input(0);
      const T* at = point.data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      parallel_for(elements_, kElementGrain, [=, f = function_](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          if constexpr (kSlopeFromOutput<F>) {
            dx[i] = dy[i] * f.slope_at(at[i]);
          } else {
            dx[i] = dy[i] * f.slope(at[i]);
          }
        }
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = kSlopeFromOutput<F> ? Places{} : Places{0},
            .backward_reads_outputs = kSlopeFromOutput<F> ? Places{0} : Places{},
            .in_place_output = std::is_same_v<Result, T> ? 0 : -1};
  }

 private:
  using Result = ResultOf<F, T>;
  F function_;
  std::int64_t elements_;
};

/// Shapes: y as x, of any rank.
template <class F, class View>
class UnaryOperator final : public ElementwiseOperator {
 public:
  explicit UnaryOperator(const View& view) : function_(make_function<F>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{result_dtype<F>(context.dtype(0)), context.shape(0)}};
  }
  Places gradients() const override { return kHasSlope<F> ? Places{0} : Places{}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(
        typename FunctionTypes<F>::List{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
          return std::make_unique<UnaryKernel<F, T>>(function_, context.shape(0).elements());
        });
  }

 private:
  F function_;
};

/// Registers a function: `add_unary<Relu, nodes::Relu>(registry)`.
template <class F, class View>
void add_unary(OperatorRegistry& registry) {
  registry.add<UnaryOperator<F, View>, View>();
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "level0_ops/kernels/elementwise/broadcast.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"

// Elementwise operators with two inputs, which are broadcast to the output.
//
// The function has `value(a, b)` and, if it is differentiable, its slopes along a and b: constants
// `kSlopeA` and `kSlopeB`, so that the inputs need not be kept, or `slope_a(a, b)` and `slope_b(a,
// b)`. `kSlopesOfOthers` means that the slope along each input depends on the other only, so that
// an input need not be kept if only its own gradient is wanted. `kDivides` means division: integers
// are then checked for zeros.
namespace d5::detail {

template <class F>
inline constexpr bool kConstantSlopes = requires { F::kSlopeA; };
template <class F>
inline constexpr bool kHasSlopes =
    kConstantSlopes<F> || requires(const F& f) { f.slope_a(0.0f, 0.0f); };

template <class F>
inline constexpr bool kSlopesOfOthers = requires { F::kSlopesOfOthers; };

/// Throws: ValueError, naming the node, if there is a zero.
template <std::integral T>
void expect_no_zeros(std::span<const T> divisors, const onnx::Node& node) {
  if (std::find(divisors.begin(), divisors.end(), T(0)) == divisors.end()) return;
  throw ValueError(onnx::describe(node) + ": integer division by zero");
}

template <class F, class T>
class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const F& function, const PlanContext& context)
      : BinaryKernel(function, context, second_operand_shape(context)) {}
  /// `b` is the second input's shape for broadcasting.
  BinaryKernel(const F& function, const PlanContext& context, const Shape& b)
      : function_(function),
        loop_(broadcast_loop(context.output(0).shape, {&context.shape(0), &b})) {
    const Shape &out = context.output(0).shape, &a = context.shape(0);
    for (const std::size_t i : {0, 1}) {
      if (!context.wants_grad(i)) continue;
      const Shape& input = i == 0 ? a : b;
      sums_[i] = kConstantSlopes<F> ? GradientSum(out, input) : GradientSum(out, input, a, b);
    }
  }

  void forward(OpContext& context) override {
    const Tensor &a = context.input(0), &b = context.input(1);
    if constexpr (std::integral<T> && requires { F::kDivides; }) {
      expect_no_zeros(b.span<T>(), context.node());
    }
    apply_binary(loop_, context.output(0).data<Result>(), a.data<T>(), b.data<T>(),
                 [f = function_](const T& x, const T& y) {
                   return Result(f.value(arithmetic(x), arithmetic(y)));
                 });
  }

  void backward(GradContext& context) override {
    if constexpr (!kHasSlopes<F> || !std::floating_point<T>) {
      Kernel::backward(context);
    } else if constexpr (kConstantSlopes<F>) {
      add_up(context, 0, [](auto, auto) { return T(F::kSlopeA); });
      add_up(context, 1, [](auto, auto) { return T(F::kSlopeB); });
    } else if constexpr (kSlopesOfOthers<F>) {
      if (sums_[0]) {
        const T* b = context.input(1).data<T>();
        add_up(context, 0, [=, f = function_](auto, auto j) { return f.slope_a(T(), b[j]); });
      }
      if (sums_[1]) {
        const T* a = context.input(0).data<T>();
        add_up(context, 1, [=, f = function_](auto i, auto) { return f.slope_b(a[i], T()); });
      }
    } else {
      const T *a = context.input(0).data<T>(), *b = context.input(1).data<T>();
      add_up(context, 0, [=, f = function_](auto i, auto j) { return f.slope_a(a[i], b[j]); });
      add_up(context, 1, [=, f = function_](auto i, auto j) { return f.slope_b(a[i], b[j]); });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = backward_reads(),
            .backward_reads_outputs = {},
            .in_place_output = std::is_same_v<Result, T> ? 0 : -1};
  }

 private:
  using Result = ResultOf<F, T>;

  [[nodiscard]] Places backward_reads() const {
    if constexpr (kConstantSlopes<F>) {
      return {};
    } else if constexpr (kSlopesOfOthers<F>) {
      Places reads;
      if (sums_[0]) reads.add(1);
      if (sums_[1]) reads.add(0);
      return reads;
    } else {
      return {0, 1};
    }
  }

  template <class Slope>
  void add_up(GradContext& context, std::size_t i, Slope slope) const {
    if (!context.wants_grad(i)) return;
    sums_[i]->run(context.grad_input(i).data<T>(), context.grad_output(0).data<T>(), slope);
  }

  F function_;
  StridedLoop loop_;
  std::array<std::optional<GradientSum>, 2> sums_;
};

/// Shapes: A and B are broadcast to C.
template <class F, class View>
class BinaryOperator final : public ElementwiseOperator {
 public:
  explicit BinaryOperator(const View& view) : function_(make_function<F>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    expect_same_types(context, 0, 2);
    return {TensorDesc{result_dtype<F>(context.dtype(0)), infer_binary_shape(context)}};
  }
  Places gradients() const override { return kHasSlopes<F> ? Places{0, 1} : Places{}; }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(
        typename FunctionTypes<F>::List{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<BinaryKernel<F, T>>(function_, context); });
  }

 private:
  F function_;
};

/// Registers a function: `add_binary<Add, nodes::Add>(registry)`.
template <class F, class View>
void add_binary(OperatorRegistry& registry) {
  registry.add<BinaryOperator<F, View>, View>();
}

}  // namespace d5::detail

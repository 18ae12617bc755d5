// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/strided_loop.hpp"

// Broadcasting of inputs to an output: rules of shapes, and loops.
namespace d5::detail {

/// The shape to which inputs [first, last) are broadcast. Throws: ShapeError, naming the node.
[[nodiscard]] Shape broadcast_inputs(const InferContext& context, std::size_t first,
                                     std::size_t last);
/// Throws: TypeError unless inputs [first, last) have the same element type.
void expect_same_types(const InferContext& context, std::size_t first, std::size_t last);

/// The second input's shape for broadcasting. Until opset 6, it is broadcast only if the attribute
/// `broadcast` is 1, and its dimensions match those of the first input from the attribute `axis`
/// on.
/// Throws: ShapeError, ValueError.
[[nodiscard]] Shape second_operand_shape(const InferContext& context);
/// The output shape of an operator with two inputs, by the rules of the node's opset.
[[nodiscard]] Shape infer_binary_shape(const InferContext& context);

/// out = f(a, b), over a loop of output, first input and second input.
template <class Out, class A, class B, class F>
void apply_binary(const StridedLoop& loop, Out* out, const A* a, const B* b, F f) {
  const std::int64_t step_a = loop.step(1), step_b = loop.step(2);
  loop.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
    Out* z = out + at[0];
    const A* x = a + at[1];
    const B* y = b + at[2];
    if (step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i], y[i]);
    } else if (step_a == 1 && step_b == 0 && std::is_trivially_copyable_v<B>) {
      const B right = *y;
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i], right);
    } else {
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i * step_a], y[i * step_b]);
    }
  });
}

/// The gradient of a broadcast input: the sum over the uses of each element.
class GradientSum {
 public:
  /// Operands of `loop`: gradient of the output, gradient of the input, and up to two others that
  /// the slope reads. The loop visits every use of the input's `elements`.
  GradientSum(const StridedLoop& loop, std::int64_t elements)
      : loop_(loop), elements_(elements), once_(loop.elements() == elements) {}
  /// For an input broadcast to `out`. Shapes: all operands can be broadcast to `out`.
  GradientSum(const Shape& out, const Shape& input, const Shape& first, const Shape& second)
      : GradientSum(broadcast_loop(out, {&input, &first, &second}), input.elements()) {}
  GradientSum(const Shape& out, const Shape& input)
      : GradientSum(broadcast_loop(out, {&input}), input.elements()) {}

  /// `grad` = sum of `grad_out` slope(i, j), for elements i and j of the two other operands.
  template <std::floating_point T, class Slope>
  void run(T* grad, const T* grad_out, Slope slope) const {
    const std::int64_t step_g = loop_.step(0), step = loop_.step(1), step_i = loop_.step(2),
                       step_j = loop_.step(3);
    const auto part = [=](const StridedLoop::Offsets& at, std::int64_t k) {
      return grad_out[at[0] + k * step_g] * slope(at[2] + k * step_i, at[3] + k * step_j);
    };
    if (once_) {
      return loop_.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
        for (std::int64_t k = 0; k < count; ++k) grad[at[1] + k * step] = part(at, k);
      });
    }
    std::fill_n(grad, elements_, T(0));
    loop_.run_in_order([=](const StridedLoop::Offsets& at, std::int64_t count) {
      if (step == 0) {
        double sum = 0;  // double, because a bias sums over a whole batch
        for (std::int64_t k = 0; k < count; ++k) sum += part(at, k);
        grad[at[1]] += T(sum);
      } else {
        for (std::int64_t k = 0; k < count; ++k) grad[at[1] + k * step] += part(at, k);
      }
    });
  }

 private:
  StridedLoop loop_;
  std::int64_t elements_;
  bool once_;  ///< no element is used twice
};

}  // namespace d5::detail

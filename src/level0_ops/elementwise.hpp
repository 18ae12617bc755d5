// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator.hpp"
#include "level0_ops/element_moving.hpp"
#include "level0_ops/strided_loop.hpp"

// The loops of operators that compute each element of their output from one element of each input.
namespace d5::detail {

/// The shape to which inputs [first, last) are broadcast. Throws: ShapeError, naming the node.
[[nodiscard]] Shape broadcast_inputs(const InferContext& context, std::size_t first,
                                     std::size_t last);
/// Throws: TypeError unless inputs [first, last) have one element type.
void expect_same_types(const InferContext& context, std::size_t first, std::size_t last);

/// The shape that the second input counts as. Until opset 6 it is broadcast only if the attribute
/// `broadcast` is 1, and then its dimensions are those of the first from the attribute `axis` on.
/// Throws: ShapeError, ValueError.
[[nodiscard]] Shape second_operand_shape(const onnx::Node& node, const Shape& a, const Shape& b);
/// The shape of an operator with two inputs, under the rules of the node's opset.
[[nodiscard]] Shape infer_binary_shape(const InferContext& context);
/// The output of such an operator whose inputs and output have one element type.
[[nodiscard]] TensorDesc infer_binary(const InferContext& context);
/// Throws: ValueError if there is a zero, naming the node.
template <std::integral T>
void expect_no_zeros(std::span<const T> divisors, const onnx::Node& node) {
  if (std::find(divisors.begin(), divisors.end(), T(0)) == divisors.end()) return;
  throw ValueError(onnx::describe(node) + ": integers are divided by zero");
}

/// The loop over output, first and second input of an operator with two inputs.
[[nodiscard]] StridedLoop binary_loop(const onnx::Node& node, const Shape& out, const Shape& a,
                                      const Shape& b);

/// out = f(a, b)
template <class Out, class A, class B, class F>
void apply_binary(const StridedLoop& loop, Out* out, const A* a, const B* b, F f) {
  const std::int64_t step_a = loop.step(1), step_b = loop.step(2);
  loop.run([=](const StridedLoop::Offsets& at, std::int64_t count) {
    Out* z = out + at[0];
    const A* x = a + at[1];
    const B* y = b + at[2];
    if (step_a == 1 && step_b == 1) {
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i], y[i]);
    } else if (step_a == 1 && step_b == 0) {
      const B right = *y;
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i], right);
    } else {
      for (std::int64_t i = 0; i < count; ++i) z[i] = f(x[i * step_a], y[i * step_b]);
    }
  });
}

/// grad = sum of grad_out * slope(a, b) over the dimensions along which the input was broadcast.
/// Operands of `loop`: gradient of the output, gradient of the input, a, b; `slope` gets addresses,
/// and must not read those that are not given.
template <class T, class A, class B, class Slope>
void accumulate_gradient(const StridedLoop& loop, Tensor& grad, const Tensor& grad_out, const A* a,
                         const B* b, Slope slope) {
  zero_elements(grad);
  T* to = grad.data<T>();
  const T* g = grad_out.data<T>();
  const std::int64_t step_g = loop.step(0), step = loop.step(1), step_a = loop.step(2),
                     step_b = loop.step(3);
  const auto row = [=](const StridedLoop::Offsets& at, std::int64_t count) {
    const T* from = g + at[0];
    T* dx = to + at[1];
    if (step == 0) {
      double sum = 0;  // a bias sums over a whole batch
      for (std::int64_t i = 0; i < count; ++i) {
        sum += from[i * step_g] * slope(a + at[2] + i * step_a, b + at[3] + i * step_b);
      }
      *dx += T(sum);
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        dx[i * step] += from[i * step_g] * slope(a + at[2] + i * step_a, b + at[3] + i * step_b);
      }
    }
  };
  if (grad.elements() == grad_out.elements()) {
    loop.run(row);  // nothing was broadcast: every element is written once
  } else {
    loop.run_in_order(row);
  }
}

}  // namespace d5::detail

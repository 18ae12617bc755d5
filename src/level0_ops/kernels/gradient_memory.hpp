// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "d5/level0_ops/operator/grad_context.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

// Pointers to the elements of gradients; null if absent.
namespace d5::detail {

/// The gradient of output `i`.
template <class T>
[[nodiscard]] const T* arriving_gradient(const GradContext& context, std::size_t i) {
  return context.has_grad_output(i) ? context.grad_output(i).template data<T>() : nullptr;
}

/// The gradient of input `i`, filled with zeros for accumulation.
template <class T>
[[nodiscard]] T* zeroed_gradient(const GradContext& context, std::size_t i) {
  if (!context.wants_grad(i)) return nullptr;
  Tensor& gradient = context.grad_input(i);
  std::fill_n(gradient.data<T>(), gradient.elements(), T(0));
  return gradient.data<T>();
}

/// Writes the gradient of input `i`, if it is wanted; zeros if `arrived` is undefined.
inline void give_gradient(const GradContext& context, std::size_t i, const Tensor& arrived) {
  if (!context.wants_grad(i)) return;
  if (arrived.defined()) {
    context.grad_input(i).copy_from(arrived);
  } else {
    zero_elements(context.grad_input(i));
  }
}

}  // namespace d5::detail

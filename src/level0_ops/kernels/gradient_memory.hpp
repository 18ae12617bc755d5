// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "d5/level0_ops/operator/grad_context.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

// What backward reads and writes, as elements; null where there is none.
namespace d5::detail {

/// Of the gradient that reaches output `i`.
template <class T>
[[nodiscard]] const T* arriving_gradient(const GradContext& context, std::size_t i) {
  return context.has_grad_output(i) ? context.grad_output(i).template data<T>() : nullptr;
}

/// Of the gradient of input `i`, zeros to be added to.
template <class T>
[[nodiscard]] T* zeroed_gradient(const GradContext& context, std::size_t i) {
  if (!context.wants_grad(i)) return nullptr;
  Tensor& gradient = context.grad_input(i);
  std::fill_n(gradient.data<T>(), gradient.elements(), T(0));
  return gradient.data<T>();
}

/// Writes the gradient of input `i`, if it is wanted: zeros where nothing arrived.
inline void give_gradient(const GradContext& context, std::size_t i, const Tensor& arrived) {
  if (!context.wants_grad(i)) return;
  if (arrived.defined()) {
    context.grad_input(i).copy_from(arrived);
  } else {
    zero_elements(context.grad_input(i));
  }
}

}  // namespace d5::detail

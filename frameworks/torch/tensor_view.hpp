// SPDX-License-Identifier: Apache-2.0
// Conversions between d5's and torch's tensors without a copy.
#pragma once

#include <ATen/core/Tensor.h>

#include "d5/core/tensor/tensor.hpp"

namespace d5::torch {

[[nodiscard]] bool has_scalar_type(DType dtype);
/// Throws: Unsupported for an element type that torch lacks.
[[nodiscard]] at::ScalarType scalar_type(DType dtype);
[[nodiscard]] DType dtype_of_scalar(at::ScalarType type);

[[nodiscard]] inline at::IntArrayRef sizes_of(const Shape& shape) {
  return {shape.dims().data(), shape.rank()};
}

/// Throws: Unsupported for a shape whose sizes overflow in torch, which multiplies even around
/// zeros.
void expect_holds(const Shape& shape);

/// A non-owning torch tensor over d5's memory.
[[nodiscard]] at::Tensor wrap(const Tensor& tensor);
/// A d5 tensor that shares ownership of torch's memory. Copies a non-contiguous one.
[[nodiscard]] Tensor share(const at::Tensor& tensor);

/// Caches the last wrapped tensor. A plan's buffers do not move, so only its first run wraps them.
/// All must have the same type and shape.
class TensorView {
 public:
  [[nodiscard]] at::Tensor& of(const Tensor& tensor) {
    if (tensor.raw() != data_ || !view_.defined()) [[unlikely]] {
      view_ = wrap(tensor);
      data_ = tensor.raw();
    }
    return view_;
  }

 private:
  at::Tensor view_;
  const void* data_ = nullptr;
};

}  // namespace d5::torch

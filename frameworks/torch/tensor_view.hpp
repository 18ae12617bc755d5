// SPDX-License-Identifier: Apache-2.0
// d5's memory as torch's tensors and back, without a copy.
#pragma once

#include <ATen/core/Tensor.h>

#include "d5/core/tensor/tensor.hpp"

namespace d5::torch {

[[nodiscard]] bool has_scalar_type(DType dtype);
/// Throws: Unsupported for an element type that torch has none for.
[[nodiscard]] at::ScalarType scalar_type(DType dtype);
[[nodiscard]] DType dtype_of_scalar(at::ScalarType type);

[[nodiscard]] inline at::IntArrayRef sizes_of(const Shape& shape) {
  return {shape.dims().data(), shape.rank()};
}

/// Throws: Unsupported for a shape whose sizes torch cannot multiply; it leaves out no zero.
void expect_holds(const Shape& shape);

/// A torch tensor over d5's memory, which it does not keep alive.
[[nodiscard]] at::Tensor wrap(const Tensor& tensor);
/// A d5 tensor over torch's memory, which it keeps alive. Copies one that is not contiguous.
[[nodiscard]] Tensor share(const at::Tensor& tensor);

/// The last tensor that was wrapped: buffers of a plan stay where they are, so that wrapping
/// happens on its first run only. All have the same type and shape.
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

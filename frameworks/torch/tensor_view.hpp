// SPDX-License-Identifier: Apache-2.0
// d5's memory as torch's tensors and back, without a copy.
#pragma once

#include <ATen/core/Tensor.h>

#include "d5/core/tensor.hpp"

namespace d5::torch {

/// Throws: Unsupported for an element type that torch has none for.
[[nodiscard]] at::ScalarType scalar_type(DType dtype);
[[nodiscard]] DType dtype_of_scalar(at::ScalarType type);

[[nodiscard]] inline at::IntArrayRef sizes_of(const Shape& shape) {
  return {shape.dims().data(), shape.rank()};
}

/// A torch tensor over d5's memory, which it does not keep alive.
[[nodiscard]] at::Tensor wrap(const Tensor& tensor);
/// A d5 tensor over torch's memory, which it keeps alive. Copies one that is not contiguous.
[[nodiscard]] Tensor share(const at::Tensor& tensor);

/// The last tensor that was wrapped: buffers of a plan stay where they are, so that wrapping
/// happens on its first run only.
class TensorView {
 public:
  [[nodiscard]] at::Tensor& of(const Tensor& tensor) {
    if (tensor.raw() != data_ || tensor.dtype() != dtype_ || tensor.shape() != shape_)
        [[unlikely]] {
      refresh(tensor);
    }
    return view_;
  }

 private:
  void refresh(const Tensor& tensor);

  at::Tensor view_;
  const void* data_ = nullptr;
  DType dtype_ = DType::undefined;
  Shape shape_;
};

}  // namespace d5::torch

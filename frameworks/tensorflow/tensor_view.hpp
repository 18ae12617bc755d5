// SPDX-License-Identifier: Apache-2.0
// d5's memory as TensorFlow's tensors.
#pragma once

#include "d5/core/tensor/tensor.hpp"
#include "status.hpp"

namespace d5::tensorflow {

[[nodiscard]] bool has_data_type(DType dtype);
/// Throws: Unsupported for an element type that TensorFlow lacks.
[[nodiscard]] TF_DataType data_type(DType dtype);
/// The inverse. Throws: Unsupported.
[[nodiscard]] DType dtype_of_data(TF_DataType type);

/// A non-owning, read-only tensor over d5's memory, transposed if that is (`Permuted`). TensorFlow
/// copies unaligned memory as it requires.
[[nodiscard]] TensorPointer wrap(const Tensor& tensor);
/// A tensor with its own memory.
[[nodiscard]] TensorPointer copied(const Tensor& tensor);
[[nodiscard]] TensorDesc desc_of(const TF_Tensor& tensor);
/// Copies TensorFlow's elements to `tensor`, of the same type and number.
void copy_to(Tensor& tensor, const TF_Tensor& from);

/// Caches the last wrapped tensor of an argument. A plan's buffers do not move, so only its first
/// run wraps them. All must have the same type and shape.
class HandleView {
 public:
  /// Throws: as `Status::expect_ok`.
  [[nodiscard]] TFE_TensorHandle* of(const Tensor& tensor) {
    if (tensor.raw() != data_ || !handle_ || is_copy_) [[unlikely]]
      take(tensor);
    return handle_.get();
  }

 private:
  void take(const Tensor& tensor);

  HandlePointer handle_;
  const void* data_ = nullptr;
  bool is_copy_ = false;  ///< later writes to `data_` are not visible
};

}  // namespace d5::tensorflow

// SPDX-License-Identifier: Apache-2.0
// d5's memory as TensorFlow's tensors.
#pragma once

#include "d5/core/tensor/tensor.hpp"
#include "status.hpp"

namespace d5::tensorflow {

[[nodiscard]] bool has_data_type(DType dtype);
/// Throws: Unsupported for an element type that TensorFlow has none for.
[[nodiscard]] TF_DataType data_type(DType dtype);
/// The inverse. Throws: Unsupported.
[[nodiscard]] DType dtype_of_data(TF_DataType type);

/// A tensor over d5's memory, transposed where that is (`Permuted`). It does not keep the memory
/// alive, and never writes there; TensorFlow copies what is not aligned as it wants it.
[[nodiscard]] TensorPointer wrap(const Tensor& tensor);
/// One with memory of its own.
[[nodiscard]] TensorPointer copied(const Tensor& tensor);
[[nodiscard]] TensorDesc desc_of(const TF_Tensor& tensor);
/// TensorFlow's elements into `tensor`, of the same type and number.
void copy_to(Tensor& tensor, const TF_Tensor& from);

/// The last tensor that was wrapped as an argument of operations: buffers of a plan stay where they
/// are, so that wrapping happens on its first run only. All have the same type and shape.
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
  bool is_copy_ = false;  ///< what is written into `data_` later does not show
};

}  // namespace d5::tensorflow

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// A tensor with a shape but no data. All phantom tensors of a process share one inaccessible
/// mapping: the data of thousands of ranks takes no memory, and a stray access is a segmentation
/// fault. Simulated ranks send phantom tensors and only account for the time of arithmetic; a rank
/// with a part of a network uses them for the other parts.
///
///     Tensor gradient = phantom_tensor({DType::float32, {25'000'000}});
///
/// Throws: MemoryError above 256 GiB, or if the addresses cannot be reserved.
/// Thread safety: all functions.
[[nodiscard]] Tensor phantom_tensor(const TensorDesc& desc);
/// Whether `tensor` is a phantom or a part of one. Unspecified for empty tensors.
[[nodiscard]] bool is_phantom(const Tensor& tensor);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// A tensor with a shape and no elements: all of a process lie in one mapping that nobody may read
/// or write, so that thousands of ranks' data takes no memory, and a stray access is caught (a
/// segmentation fault where it happens). Simulated ranks send them, and let the time of arithmetic
/// pass; a rank that holds a part of a network has them for the rest.
///
///     Tensor gradient = phantom_tensor({DType::float32, {25'000'000}});
///
/// Throws: MemoryError above 256 GiB, and where the addresses cannot be reserved.
/// Thread safety: all functions.
[[nodiscard]] Tensor phantom_tensor(const TensorDesc& desc);
/// Whether it is one, or a part of one. An empty tensor may be taken for either.
[[nodiscard]] bool is_phantom(const Tensor& tensor);

}  // namespace d5

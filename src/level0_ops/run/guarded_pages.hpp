// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// At least `bytes` of host memory, as whole pages, between guard areas of 4 MiB that crash the
/// process when accessed. Throws: MemoryError.
[[nodiscard]] Tensor guarded_pages(std::size_t bytes);

/// A copy that ends, except for alignment, right before a guard area, and begins right after NaN.
/// Tensors without plain bytes (strings, a framework's arrangement) are not copied.
[[nodiscard]] Tensor guarded_copy(const Tensor& tensor);

}  // namespace d5::detail

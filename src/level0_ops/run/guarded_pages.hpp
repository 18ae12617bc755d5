// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// At least `bytes` on the host, as whole pages, between 4 MiB on either side that end the process
/// when they are read or written. Throws: MemoryError.
[[nodiscard]] Tensor guarded_pages(std::size_t bytes);

/// A copy that ends, but for alignment, right before memory that nobody may touch, and begins right
/// behind NaN. What has no plain bytes (strings, a framework's own arrangement) is not copied.
[[nodiscard]] Tensor guarded_copy(const Tensor& tensor);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Part `part` of `parts` of a tensor along an axis, and the inverse: the concatenation of all
/// parts.
[[nodiscard]] Tensor part_of(const Tensor& whole, std::size_t axis, int part, int parts);
void join_parts(const Tensor& parts, std::size_t axis, int count, Tensor& whole);

}  // namespace d5::detail

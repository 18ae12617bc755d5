// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The tensor with a dimension of 1 before dimension `axis`, sharing its elements.
[[nodiscard]] Tensor with_axis(const Tensor& tensor, std::int64_t axis);

/// One tensor of `parts` in order along dimension `axis`, where each part is 1. One part is shared.
/// Throws: ShapeError, TypeError with the input's name if the parts differ otherwise.
[[nodiscard]] Tensor joined(std::span<const Tensor> parts, std::int64_t axis,
                            const std::string& input);

/// A copy of place `row` of dimension `axis`, without that dimension.
[[nodiscard]] Tensor row_of(const Tensor& tensor, std::int64_t axis, std::int64_t row);

}  // namespace d5::detail

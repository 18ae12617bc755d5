// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

using Integers = std::vector<std::int64_t>;

/// The elements of an int32 or int64 tensor. Throws: TypeError.
[[nodiscard]] Integers integers_of(const Tensor& tensor, std::string_view who);

/// `axes` counted from the front. Throws: ValueError for axes outside [-rank, rank) and repeated
/// ones.
[[nodiscard]] std::vector<std::size_t> distinct_axes(const Integers& axes, std::size_t rank,
                                                     std::string_view who);

}  // namespace d5::detail

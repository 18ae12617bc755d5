// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "d5/core/tensor/dtype.hpp"

// What sums and products are made in.
namespace d5::detail {

/// Floats add up in double, integers modulo 2^64.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// T itself, but integers wrap around instead of overflowing: 64 bits keep the low bits of all.
template <class T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

/// The numbers that the standard adds up: no integers of 8 and 16 bits.
using SummedTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>

#include "d5/core/tensor/dtype.hpp"

// Accumulator types of sums and products.
namespace d5::detail {

/// Floats are summed in double, integers modulo 2^64.
template <class T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

/// T itself for floats; 64 unsigned bits for integers, which wrap around instead of overflowing.
template <class T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

/// The types that ONNX sums: without integers of 8 and 16 bits.
using SummedTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

}  // namespace d5::detail

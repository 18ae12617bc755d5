// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// `value` as an element: integers are rounded to nearest even and saturated.
template <class T>
[[nodiscard]] T rounded(double value) {
  if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (!(value > double(Limits::lowest()))) return Limits::lowest();  // also for NaN
    if (value >= double(Limits::max())) return Limits::max();
    return T(std::nearbyint(value));
  } else {
    return T(Arithmetic<T>(value));
  }
}

/// The type in which values between elements of type T are computed.
template <class T>
using Interpolated = std::conditional_t<std::is_integral_v<T>, double, Arithmetic<T>>;

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace d5::detail {

/// Converts a user's time, even infinity, to nanoseconds: at most thirty years, so that adding it
/// to a point in time does not overflow.
inline std::int64_t nanoseconds(double seconds) {
  constexpr double kMost = 1e9;
  return std::int64_t(std::min(kMost, seconds) * 1e9);
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace d5::detail {

/// Of a time that somebody chose, be it for ever: thirty years at most, which can be added to any
/// moment.
inline std::int64_t nanoseconds(double seconds) {
  constexpr double kMost = 1e9;
  return std::int64_t(std::min(kMost, seconds) * 1e9);
}

}  // namespace d5::detail

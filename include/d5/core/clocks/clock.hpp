// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5 {

/// Seconds on the monotonic clock, from an arbitrary start.
[[nodiscard]] double now_seconds();

/// Cost and resolution of the monotonic clock on this machine, measured once.
struct ClockCost {
  double seconds_per_read;
  double resolution_seconds;  ///< the smallest step between two readings that differ
};
[[nodiscard]] ClockCost clock_cost();

}  // namespace d5

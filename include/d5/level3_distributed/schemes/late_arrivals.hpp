// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// That one rank waited in collectives because another had not come to them yet.
struct LateArrival {
  int late = 0, waiting = 0;
  std::int64_t calls = 0;
  double seconds = 0;  ///< from when `waiting` waited until `late`, the last of all, came
  bool operator==(const LateArrival&) const = default;
};

/// From the trace of all ranks: for each collective, the rank that came last made the others wait,
/// as far as they were in the call, or in a wait for it. Sorted by seconds, the most first.
[[nodiscard]] std::vector<LateArrival> late_arrivals(const Timeline& timeline);
/// A line a pair: who waited, for whom, in how many calls, how long in all.
[[nodiscard]] TextTable late_arrivals_table(const std::vector<LateArrival>& arrivals);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// Time that one rank waited in collectives for another, late rank.
struct LateArrival {
  int late = 0, waiting = 0;
  std::int64_t calls = 0;
  double seconds = 0;  ///< from the start of the wait to the arrival of `late`, the last rank
  bool operator==(const LateArrival&) const = default;
};

/// Finds late arrivals in the trace of all ranks. In each collective the last rank makes the others
/// wait, for the time that they are in the call or in a wait for it. Sorted by seconds, descending.
[[nodiscard]] std::vector<LateArrival> late_arrivals(const Timeline& timeline);
/// One row per pair of ranks: waiting rank, late rank, number of calls, total time.
[[nodiscard]] TextTable late_arrivals_table(const std::vector<LateArrival>& arrivals);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::detail {

struct RingSteps {
  int rank = 0, ranks = 1;
  std::size_t first_round = 0;
  /// A rank sends part rank + shift first, and the part before it in each further step.
  int shift = 0;
  CollectivePlan::Then then = CollectivePlan::Then::keep;
};

/// n - 1 rounds in which each rank passes on what it got before to its right neighbour. `range` is
/// asked where a part lies; parts go round.
void append_ring(CollectivePlan& plan, const RingSteps& ring,
                 const std::function<ElementRange(int part)>& range);

/// A ring that reduces and one that spreads the sums, from `first_round` on: an all-reduce.
void append_ring_all_reduce(CollectivePlan& plan, int rank, int ranks, std::size_t first_round,
                            const std::function<ElementRange(int part)>& range);

/// A ring for each of s segments of every part, each a step behind the one before.
[[nodiscard]] CollectivePlan segmented_ring_plan(const CollectiveSize& size,
                                                 std::int64_t segment_bytes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::detail {

struct RingSteps {
  int rank = 0, ranks = 1;
  std::size_t first_round = 0;
  /// A rank first sends part rank + shift, and in each further step the part before.
  int shift = 0;
  CollectivePlan::Then then = CollectivePlan::Then::keep;
};

/// Appends n - 1 rounds in which each rank passes on the part received last to its right neighbour.
/// `range` returns the place of a part; part numbers wrap around.
void append_ring(CollectivePlan& plan, const RingSteps& ring,
                 const std::function<ElementRange(int part)>& range);

/// Appends an all-reduce from `first_round` on: a ring that reduces, and a ring that distributes
/// the sums.
void append_ring_all_reduce(CollectivePlan& plan, int rank, int ranks, std::size_t first_round,
                            const std::function<ElementRange(int part)>& range);

/// The same over all data, with equal parts.
[[nodiscard]] PlannedRounds ring_all_reduce_rounds(const CollectiveSize& size);

/// An all-reduce of two levels: a ring that reduces among each `ranks_per_node` consecutive ranks,
/// an all-reduce among the ranks of equal places on all nodes, and a ring that distributes in each
/// node. One ring if the ranks are not a multiple.
[[nodiscard]] PlannedRounds two_level_ring_rounds(const CollectiveSize& size, int ranks_per_node);

/// A ring for each of the s segments of every part, each one step behind the previous.
[[nodiscard]] CollectivePlan segmented_ring_plan(const CollectiveSize& size,
                                                 std::int64_t segment_bytes);

}  // namespace d5::detail

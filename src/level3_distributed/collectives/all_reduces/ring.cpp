// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"

namespace d5::collective {
namespace {

/// The data is cut into n parts. In n - 1 steps each rank passes a part to its right neighbour and
/// adds the part received from the left; then rank r holds the sum of part r + 1. In n - 1 more
/// steps the sums go round.
///
/// A rank sends 2 (n - 1) / n of the data, the least possible, in 2 (n - 1) messages. Part p is
/// summed in the order of ranks p, p + 1, ..., p - 1.
class RingAllReduce final : public PlannedAllReduce {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    const PlannedRounds of = rounds(size);
    CollectivePlan plan;
    for (std::size_t i = 0; i < of.count; ++i) plan.rounds.push_back(of.round(i));
    return plan;
  }
  PlannedRounds rounds(const CollectiveSize& size) const override {
    return detail::ring_all_reduce_rounds(size);
  }
  std::optional<CollectivePlan> plan_in_chunks(const CollectiveSize& size,
                                               std::int64_t chunk_bytes) const override {
    return detail::segmented_ring_plan(size, chunk_bytes);
  }
};

}  // namespace

/// Source: Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of
/// Workstations" (JPDC 2009).
void register_ring(Registry<AllReduceEntry>& registry) {
  registry.add("ring", AllReduceEntry::of<RingAllReduce>(
                           "bandwidth-optimal: 2 (n - 1) messages (Patarasuk and Yuan, 2009)"));
}

}  // namespace d5::collective

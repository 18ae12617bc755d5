// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"

namespace d5::reduce_scatter_algorithm {
namespace {

/// Each part passes all ranks once, from the rank after its owner to the owner, and is summed on
/// its way.
///
/// A rank sends (n - 1) / n b bytes in n - 1 messages.
class RingReduceScatter final : public PlannedReduceScatter {
 public:
  CollectivePlan plan(int rank, const Parts& parts) const override {
    CollectivePlan plan;
    detail::append_ring(
        plan,
        {.rank = rank, .ranks = parts.size(), .shift = -1, .then = CollectivePlan::Then::reduce},
        [&](int part) { return parts[part]; });
    return plan;
  }
};

}  // namespace

void register_ring(Registry<ReduceScatterEntry>& registry) {
  registry.add("ring", ReduceScatterEntry::of<RingReduceScatter>(
                           "each part passes every rank once: n - 1 messages"));
}

}  // namespace d5::reduce_scatter_algorithm

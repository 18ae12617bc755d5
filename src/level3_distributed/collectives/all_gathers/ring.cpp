// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"

namespace d5::all_gather_algorithm {
namespace {

/// In each step a rank passes on the part that it received last.
///
/// A rank sends (n - 1) / n b bytes in n - 1 messages.
class RingAllGather final : public PlannedAllGather {
 public:
  CollectivePlan plan(int rank, const Parts& parts) const override {
    CollectivePlan plan;
    detail::append_ring(plan, {.rank = rank, .ranks = parts.size()},
                        [&](int part) { return parts[part]; });
    return plan;
  }
};

}  // namespace

void register_ring(Registry<AllGatherEntry>& registry) {
  registry.add("ring", AllGatherEntry::of<RingAllGather>(
                           "each part passes every rank once: n - 1 messages"));
}

}  // namespace d5::all_gather_algorithm

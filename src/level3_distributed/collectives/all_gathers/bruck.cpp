// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::all_gather_algorithm {
namespace {

/// The buffer of each rank begins with its own part. In round k a rank sends the 2^k parts that it
/// has to the rank 2^k before it; at the end the buffer is rotated.
///
/// A rank sends (n - 1) / n b bytes in ceil(log2 n) messages, for any n.
class BruckAllGather final : public PlannedAllGather {
 public:
  BruckAllGather() : PlannedAllGather(Order::from_mine) {}

  CollectivePlan plan(int rank, const Parts& parts) const override {
    const int n = parts.size();
    const Parts places = parts.rotated(rank);
    CollectivePlan plan;
    for (int have = 1; have < n; have *= 2) {
      const int more = std::min(have, n - have);
      auto& round = plan.next_round();
      round.sends.push_back({(rank + n - have) % n, places.between(0, more)});
      round.receives.push_back({(rank + have) % n, places.between(have, have + more)});
    }
    return plan;
  }
};

}  // namespace

/// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, "Efficient Algorithms for All-to-All
/// Communications in Multiport Message-Passing Systems" (IEEE TPDS 1997).
void register_bruck(Registry<AllGatherEntry>& registry) {
  registry.add("bruck", AllGatherEntry::of<BruckAllGather>(
                            "ceil(log2 n) messages for any number of ranks (Bruck et al., 1997)"));
}

}  // namespace d5::all_gather_algorithm

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/binomial_tree.hpp"

namespace d5::broadcast_algorithm {
namespace {

/// Broadcasts down a binomial tree: the number of ranks with the data doubles in each round.
///
/// All ranks but the root receive b bytes in one message; a node sends b to each child, the root
/// to ceil(log2 n).
class BinomialBroadcast final : public PlannedBroadcast {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    CollectivePlan plan;
    detail::append_binomial_broadcast(plan, detail::BinomialTree(size.rank, size.ranks, size.root),
                                      {0, size.elements});
    return plan;
  }
};

}  // namespace

void register_binomial(Registry<BroadcastEntry>& registry) {
  registry.add("binomial",
               BroadcastEntry::of<BinomialBroadcast>("binomial tree of ceil(log2 n) rounds"));
}

}  // namespace d5::broadcast_algorithm

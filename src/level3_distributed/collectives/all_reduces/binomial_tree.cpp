// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/binomial_tree.hpp"

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::collective {
namespace {

/// Summed up a binomial tree to rank 0, and down the same tree.
///
/// Over each of a rank's edges b bytes go up and b down: 2 (n - 1) b in 2 (n - 1) messages on all
/// ranks together, at most log2 n b sent by one.
class BinomialTreeAllReduce final : public PlannedAllReduce {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    const detail::BinomialTree tree(size.rank, size.ranks, 0);
    const ElementRange all{0, size.elements};
    CollectivePlan plan;
    for (int level = 0; level < tree.levels(); ++level) {
      auto& round = plan.next_round();
      if (const int child = tree.child(level); child >= 0) {
        round.receives.push_back({tree.rank_of(child), all, CollectivePlan::Then::reduce});
      }
      if (tree.level() == level) round.sends.push_back({tree.rank_of(tree.parent()), all});
    }
    detail::append_binomial_broadcast(plan, tree, all);
    return plan;
  }
};

}  // namespace

void register_binomial_tree(Registry<AllReduceEntry>& registry) {
  registry.add("binomial_tree", AllReduceEntry::of<BinomialTreeAllReduce>(
                                    "binomial tree: reduce to rank 0, then broadcast"));
}

}  // namespace d5::collective

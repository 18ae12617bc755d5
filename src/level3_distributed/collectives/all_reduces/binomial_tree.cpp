// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/binomial_tree.hpp"

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::collective {
namespace {

/// Reduces up a binomial tree to rank 0, and broadcasts down the same tree.
///
/// Each edge of the tree carries b bytes up and b down: all ranks together send 2 (n - 1) b bytes
/// in 2 (n - 1) messages, one rank at most log2 n b.
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
                                    "reduce to rank 0, then broadcast, over a binomial tree"));
}

}  // namespace d5::collective

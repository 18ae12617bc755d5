// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/binomial_tree.hpp"
#include "level3_distributed/collectives/parts/ring_steps.hpp"

namespace d5::broadcast_algorithm {
namespace {

/// Scatters the root's n parts down a binomial tree, in which each node gets the parts of its
/// subtree; then a ring gathers all parts on every rank.
///
/// The root sends 2 (n - 1) / n b bytes in ceil(log2 n) + n - 1 messages. Another rank receives the
/// parts of its subtree in one message, and sends (n - 1) / n b bytes in n - 1 messages besides
/// those down the tree.
class ScatterAllGatherBroadcast final : public PlannedBroadcast {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    const int n = size.ranks;
    const detail::BinomialTree tree(size.rank, n, size.root);
    const Parts parts(size.elements, n);  // one for each node
    CollectivePlan plan;
    for (int level = tree.levels() - 1; level >= 0; --level) {
      auto& round = plan.next_round();
      if (tree.level() == level) {
        const int end = tree.end_below(tree.node(), level);
        round.receives.push_back({tree.rank_of(tree.parent()), parts.between(tree.node(), end)});
      }
      if (const int child = tree.child(level); child >= 0) {
        const int end = tree.end_below(child, level);
        round.sends.push_back({tree.rank_of(child), parts.between(child, end)});
      }
    }
    // Nodes are numbered in the order of ranks.
    detail::append_ring(plan, {.rank = size.rank, .ranks = n, .first_round = plan.rounds.size()},
                        [&](int part) { return parts[part - size.root]; });
    return plan;
  }
};

}  // namespace

/// Source: Barnett, Shuler, Gupta, Payne, van de Geijn and Watts, "Building a high-performance
/// collective communication library" (SC 1994).
void register_scatter_all_gather(Registry<BroadcastEntry>& registry) {
  registry.add("scatter_all_gather", BroadcastEntry::of<ScatterAllGatherBroadcast>(
                                         "scatter, then ring all-gather (van de Geijn)"));
}

}  // namespace d5::broadcast_algorithm

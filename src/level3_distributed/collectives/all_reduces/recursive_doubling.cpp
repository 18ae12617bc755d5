// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::collective {
namespace {

using Then = CollectivePlan::Then;

/// Partners at distance 1, 2, 4, ... exchange their partial sums: the minimum number of rounds.
///
/// A rank sends log2 n messages, b log2 n bytes. If n is not a power of two, let m be the largest
/// power below it: a rank that stands aside sends and receives b bytes once, its partner log2 m + 1
/// times, the others log2 m times.
class RecursiveDoublingAllReduce final : public PlannedAllReduce {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    const detail::FoldedRanks folded(size.ranks);
    const ElementRange all{0, size.elements};
    const int rank = size.rank;
    return detail::folded_plan(
        folded, rank, {all, all, Then::reduce}, [&](CollectivePlan& plan, int core) {
          for (int distance = 1; distance < folded.cores(); distance *= 2) {
            const int partner = folded.rank_of(core ^ distance);
            auto& round = plan.next_round();
            round.sends.push_back({partner, all});
            round.receives.push_back(
                {partner, all, partner < rank ? Then::reduce_incoming_first : Then::reduce});
          }
        });
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_recursive_doubling(Registry<AllReduceEntry>& registry) {
  registry.add("recursive_doubling",
               AllReduceEntry::of<RecursiveDoublingAllReduce>(
                   "log2 n messages of all data at doubling distances (Thakur et al., 2005)"));
}

}  // namespace d5::collective

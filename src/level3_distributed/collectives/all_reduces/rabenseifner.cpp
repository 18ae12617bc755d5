// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::collective {
namespace {

/// A reduce-scatter by recursive halving, then an all-gather by recursive doubling: the ring's
/// bytes in fewer messages.
///
/// A rank sends 2 log2 n messages, 2 (n - 1) / n b bytes. If n is not a power of two, let m be the
/// largest power below it: a rank that stands aside sends and receives b bytes once; its partner
/// does so besides 2 (m - 1) / m b bytes in 2 log2 m messages.
class RabenseifnerAllReduce final : public PlannedAllReduce {
 public:
  CollectivePlan plan(const CollectiveSize& size) const override {
    const detail::FoldedRanks folded(size.ranks);
    const ElementRange all{0, size.elements};
    const Parts blocks(size.elements, folded.cores());
    return detail::folded_plan(folded, size.rank, {all, all, CollectivePlan::Then::reduce},
                               [&](CollectivePlan& plan, int core) {
                                 detail::append_halving(plan, folded, core, blocks);
                                 detail::append_doubling(plan, folded, core, blocks);
                               });
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_rabenseifner(Registry<AllReduceEntry>& registry) {
  registry.add("rabenseifner",
               AllReduceEntry::of<RabenseifnerAllReduce>(
                   "recursive halving, then doubling: 2 log2 n messages (Thakur et al., 2005)"));
}

}  // namespace d5::collective

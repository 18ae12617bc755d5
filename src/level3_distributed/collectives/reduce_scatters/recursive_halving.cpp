// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::reduce_scatter_algorithm {
namespace {

/// Partners exchange half of what they still have, at half the distance each time.
///
/// A rank sends log2 n messages, (n - 1) / n b bytes. Where n is no power of two, m the largest
/// below it: ranks that stand aside send b, and receive their part; those that stand for two get
/// that b and send that part besides the log2 m messages, which leave out the parts of the ranks
/// that a core stands for.
class RecursiveHalvingReduceScatter final : public PlannedReduceScatter {
 public:
  CollectivePlan plan(int rank, const Parts& parts) const override {
    const detail::FoldedRanks folded(parts.size());
    return detail::folded_plan(folded, rank,
                               {.brings = {0, parts.elements()},
                                .gets = parts[folded.aside_of(rank)],
                                .then = CollectivePlan::Then::reduce},
                               [&](CollectivePlan& plan, int core) {
                                 detail::append_halving(plan, folded, core, folded.joined(parts));
                               });
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_recursive_halving(Registry<ReduceScatterEntry>& registry) {
  registry.add("recursive_halving",
               ReduceScatterEntry::of<RecursiveHalvingReduceScatter>(
                   "recursive halving: log2 n messages (Thakur et al., 2005)"));
}

}  // namespace d5::reduce_scatter_algorithm

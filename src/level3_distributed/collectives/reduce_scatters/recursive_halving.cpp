// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::reduce_scatter_algorithm {
namespace {

/// Partners, at half the distance in each round, exchange half of their remaining data.
///
/// A rank sends log2 n messages, (n - 1) / n b bytes. If n is not a power of two, let m be the
/// largest power below it: a rank that stands aside sends b bytes and receives its part; its
/// partner receives those b bytes and sends that part besides its log2 m messages, which omit the
/// parts that the core itself represents.
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
                   "log2 n messages at halving distances (Thakur et al., 2005)"));
}

}  // namespace d5::reduce_scatter_algorithm

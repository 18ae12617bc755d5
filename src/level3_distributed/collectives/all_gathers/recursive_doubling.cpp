// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::all_gather_algorithm {
namespace {

/// Partners at distance 1, 2, 4, ... exchange all parts that they have.
///
/// A rank sends log2 n messages, (n - 1) / n b bytes. If n is not a power of two, let m be the
/// largest power below it: a rank that stands aside sends its part and receives b bytes; its
/// partner receives that part and sends those b bytes besides its log2 m messages.
class RecursiveDoublingAllGather final : public PlannedAllGather {
 public:
  CollectivePlan plan(int rank, const Parts& parts) const override {
    const detail::FoldedRanks folded(parts.size());
    return detail::folded_plan(
        folded, rank, {.brings = parts[folded.aside_of(rank)], .gets = {0, parts.elements()}},
        [&](CollectivePlan& plan, int core) {
          detail::append_doubling(plan, folded, core, folded.joined(parts));
        });
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_recursive_doubling(Registry<AllGatherEntry>& registry) {
  registry.add("recursive_doubling",
               AllGatherEntry::of<RecursiveDoublingAllGather>(
                   "log2 n messages at doubling distances (Thakur et al., 2005)"));
}

}  // namespace d5::all_gather_algorithm

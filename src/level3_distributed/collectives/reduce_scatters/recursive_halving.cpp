// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/planned_collective.hpp"
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
    const ElementRange all{0, parts.elements()};
    CollectivePlan plan;
    if (folded.aside(rank)) {
      plan.next_round().sends.push_back({rank + 1, all});
      plan.next_round().receives.push_back({rank + 1, parts[rank]});
      return plan;
    }
    if (folded.for_two(rank)) {
      plan.next_round().receives.push_back({rank - 1, all, CollectivePlan::Then::reduce});
    }
    detail::append_halving(plan, folded, folded.core(rank), folded.joined(parts));
    if (folded.for_two(rank)) plan.next_round().sends.push_back({rank - 1, parts[rank - 1]});
    return plan;
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_recursive_halving(Registry<ReduceScatterEntry>& registry) {
  registry.add("recursive_halving",
               ReduceScatterEntry::of<RecursiveHalvingReduceScatter>(
                   "partners exchange halves: log2 n messages (Thakur et al., 2005)"));
}

}  // namespace d5::reduce_scatter_algorithm

// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::reduce_scatter_algorithm {
namespace {

/// In step k each rank sends the original part of rank + k to that rank, and adds the part received
/// from rank - k.
///
/// A rank sends (n - 1) / n b bytes in n - 1 messages.
class PairwiseReduceScatter final : public PlannedReduceScatter {
 public:
  CollectivePlan plan(int rank, const Parts& parts) const override {
    const int n = parts.size();
    CollectivePlan plan;
    for (int step = 1; step < n; ++step) {
      auto& round = plan.next_round();
      const int to = (rank + step) % n, from = (rank + n - step) % n;
      round.sends.push_back({to, parts[to]});
      round.receives.push_back({from, parts[rank], CollectivePlan::Then::reduce});
    }
    return plan;
  }
};

}  // namespace

/// Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in
/// MPICH" (IJHPCA 2005).
void register_pairwise(Registry<ReduceScatterEntry>& registry) {
  registry.add("pairwise", ReduceScatterEntry::of<PairwiseReduceScatter>(
                               "pairwise exchange: n - 1 messages (Thakur et al., 2005)"));
}

}  // namespace d5::reduce_scatter_algorithm

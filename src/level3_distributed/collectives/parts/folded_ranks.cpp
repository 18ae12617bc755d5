// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::detail {

CollectivePlan folded_plan(const FoldedRanks& folded, int rank, const StandingAside& aside,
                           const std::function<void(CollectivePlan& plan, int core)>& cores) {
  CollectivePlan plan;
  if (folded.aside(rank)) {
    plan.next_round().sends.push_back({rank + 1, aside.brings});
    plan.next_round().receives.push_back({rank + 1, aside.gets});
    return plan;
  }
  const bool for_two = folded.for_two(rank);
  if (for_two) plan.next_round().receives.push_back({rank - 1, aside.brings, aside.then});
  cores(plan, folded.core(rank));
  if (for_two) plan.next_round().sends.push_back({rank - 1, aside.gets});
  return plan;
}

void append_halving(CollectivePlan& plan, const FoldedRanks& folded, int core,
                    const Parts& blocks) {
  for (int half = folded.cores() / 2; half > 0; half /= 2) {
    const int mine = core & ~(half - 1), theirs = mine ^ half;
    const int partner = folded.rank_of(core ^ half);
    auto& round = plan.next_round();
    round.sends.push_back({partner, blocks.between(theirs, theirs + half)});
    round.receives.push_back(
        {partner, blocks.between(mine, mine + half), CollectivePlan::Then::reduce});
  }
}

void append_doubling(CollectivePlan& plan, const FoldedRanks& folded, int core,
                     const Parts& blocks) {
  for (int half = 1; half < folded.cores(); half *= 2) {
    const int mine = core & ~(half - 1), theirs = mine ^ half;
    const int partner = folded.rank_of(core ^ half);
    auto& round = plan.next_round();
    round.sends.push_back({partner, blocks.between(mine, mine + half)});
    round.receives.push_back({partner, blocks.between(theirs, theirs + half)});
  }
}

}  // namespace d5::detail

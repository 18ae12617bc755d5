// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/collectives/parts/folded_ranks.hpp"

namespace d5::detail {

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

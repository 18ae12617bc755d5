// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <functional>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::detail {

/// The usual way to run an algorithm for powers of two on any number of ranks: of the first 2 rest
/// ranks each even one hands its data to the next, which stands for both; `cores` ranks remain.
class FoldedRanks {
 public:
  explicit FoldedRanks(int ranks)
      : cores_(int(std::bit_floor(unsigned(ranks)))), rest_(ranks - cores_) {}
  [[nodiscard]] int cores() const { return cores_; }
  /// The rank stands aside; its core is the next rank.
  [[nodiscard]] bool aside(int rank) const { return rank < 2 * rest_ && rank % 2 == 0; }
  /// It stands for the one before it too.
  [[nodiscard]] bool for_two(int rank) const { return rank < 2 * rest_ && rank % 2 == 1; }
  /// Of a rank that is folded, the one of the two that stands aside.
  [[nodiscard]] int aside_of(int rank) const { return aside(rank) ? rank : rank - 1; }
  [[nodiscard]] int core(int rank) const { return rank < 2 * rest_ ? rank / 2 : rank - rest_; }
  [[nodiscard]] int rank_of(int core) const { return core < rest_ ? 2 * core + 1 : core + rest_; }
  /// A part a core: what the ranks that it stands for have together.
  [[nodiscard]] Parts joined(const Parts& parts) const {
    RankCounts counts;
    for (int c = 0; c < cores_; ++c) {
      counts.push_back(parts.between(first_rank(c), first_rank(c + 1)).size());
    }
    return Parts(counts);
  }

 private:
  [[nodiscard]] int first_rank(int core) const { return core < rest_ ? 2 * core : core + rest_; }
  int cores_, rest_;
};

/// Of a rank that stands aside: what it brings to its core, what that does with it, and what it
/// gets in the end.
struct StandingAside {
  ElementRange brings, gets;
  CollectivePlan::Then then = CollectivePlan::Then::keep;
};
/// The plan of `rank`, around what `cores` appends for a core. `aside` is of the rank itself, or of
/// the one that it stands for; of others nothing reads it.
[[nodiscard]] CollectivePlan folded_plan(
    const FoldedRanks& folded, int rank, const StandingAside& aside,
    const std::function<void(CollectivePlan& plan, int core)>& cores);

/// Recursive halving of a core: partners at half the distance each time exchange the halves that
/// the other keeps, and reduce; block c is core c's in the end. log2 cores messages, (cores - 1) /
/// cores of the data.
void append_halving(CollectivePlan& plan, const FoldedRanks& folded, int core, const Parts& blocks);
/// Recursive doubling of a core that has its block: the same way back.
void append_doubling(CollectivePlan& plan, const FoldedRanks& folded, int core,
                     const Parts& blocks);

}  // namespace d5::detail

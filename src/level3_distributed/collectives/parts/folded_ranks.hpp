// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <functional>

#include "d5/level3_distributed/collectives/planned_collective.hpp"

namespace d5::detail {

/// Runs an algorithm for powers of two on any number of ranks, in the usual way: each even rank of
/// the first 2 * rest hands its data to the next rank, which represents both. `cores` ranks remain.
class FoldedRanks {
 public:
  explicit FoldedRanks(int ranks)
      : cores_(int(std::bit_floor(unsigned(ranks)))), rest_(ranks - cores_) {}
  [[nodiscard]] int cores() const { return cores_; }
  /// Whether the rank stands aside; its core is the next rank.
  [[nodiscard]] bool aside(int rank) const { return rank < 2 * rest_ && rank % 2 == 0; }
  /// Whether the rank also represents the one before it.
  [[nodiscard]] bool for_two(int rank) const { return rank < 2 * rest_ && rank % 2 == 1; }
  /// The rank that stands aside in the pair of a folded rank.
  [[nodiscard]] int aside_of(int rank) const { return aside(rank) ? rank : rank - 1; }
  [[nodiscard]] int core(int rank) const { return rank < 2 * rest_ ? rank / 2 : rank - rest_; }
  [[nodiscard]] int rank_of(int core) const { return core < rest_ ? 2 * core + 1 : core + rest_; }
  /// One part per core: the parts of the ranks that it represents.
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

/// The exchange between a rank that stands aside and its core: its contribution, the core's
/// operation on it, and its result.
struct StandingAside {
  ElementRange brings, gets;
  CollectivePlan::Then then = CollectivePlan::Then::keep;
};
/// The plan of `rank` around the part that `cores` appends for a core. `aside` belongs to the rank
/// itself or to the one that it represents; it is ignored for others.
[[nodiscard]] CollectivePlan folded_plan(
    const FoldedRanks& folded, int rank, const StandingAside& aside,
    const std::function<void(CollectivePlan& plan, int core)>& cores);

/// Appends recursive halving for a core: partners, at half the distance in each round, exchange the
/// halves that the other keeps, and reduce. In the end core c holds block c. log2 cores messages,
/// (cores - 1) / cores of the data.
void append_halving(CollectivePlan& plan, const FoldedRanks& folded, int core, const Parts& blocks);
/// Appends recursive doubling for a core that holds its block: the reverse of halving.
void append_doubling(CollectivePlan& plan, const FoldedRanks& folded, int core,
                     const Parts& blocks);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>

#include "d5/level3_distributed/collectives/collective_plan.hpp"

namespace d5::detail {

/// The binomial tree over ranks, seen from one rank: node 0 is the root, and the parent of a node
/// is its number without the lowest set bit. A node with k zero bits at its end has up to k
/// children.
class BinomialTree {
 public:
  BinomialTree(int rank, int ranks, int root)
      : ranks_(ranks),
        root_(root),
        node_((rank - root + ranks) % ranks),
        levels_(std::bit_width(unsigned(ranks - 1))) {}
  [[nodiscard]] int node() const { return node_; }
  /// Rounds from the leaves to the root.
  [[nodiscard]] int levels() const { return levels_; }
  [[nodiscard]] int rank_of(int node) const { return (node + root_) % ranks_; }
  [[nodiscard]] int parent() const { return node_ & (node_ - 1); }
  /// The bit in which the node differs from its parent; for the root the one above all.
  [[nodiscard]] int level() const {
    return node_ == 0 ? levels_ : std::countr_zero(unsigned(node_));
  }
  /// The child that differs in bit `level`; -1 if none.
  [[nodiscard]] int child(int level) const {
    const int child = node_ + (1 << level);
    return level < this->level() && child < ranks_ ? child : -1;
  }
  /// One past the last node of the subtree of a node at `level`.
  [[nodiscard]] int end_below(int node, int level) const {
    return std::min(node + (1 << level), ranks_);
  }

 private:
  int ranks_, root_, node_, levels_;
};

/// Appends a broadcast from the root down; rounds go by level, the largest first.
inline void append_binomial_broadcast(CollectivePlan& plan, const BinomialTree& tree,
                                      ElementRange all) {
  for (int level = tree.levels() - 1; level >= 0; --level) {
    auto& round = plan.next_round();
    if (tree.level() == level) round.receives.push_back({tree.rank_of(tree.parent()), all});
    if (const int child = tree.child(level); child >= 0) {
      round.sends.push_back({tree.rank_of(child), all});
    }
  }
}

}  // namespace d5::detail

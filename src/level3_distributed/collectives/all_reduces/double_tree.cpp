// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "level3_distributed/collectives/parts/segments.hpp"

namespace d5::collective {
namespace {

using Then = CollectivePlan::Then;

/// The parent in a binary tree in which only even nodes have children: the middle of the next
/// larger run that contains the node. Node 0 is the root.
int parent_of(int node, int nodes) {
  const int bit = node & -node;
  const int above = (node - bit) | (bit << 1);
  return above < nodes ? above : node - bit;
}

int depth_of(int node, int nodes) {
  int depth = 0;
  for (; node != 0; node = parent_of(node, nodes)) ++depth;
  return depth;
}

/// One of the two trees over ranks. The second is the first one mirrored, or shifted by one if n is
/// odd, so that inner nodes of one are leaves of the other (except one rank if n is odd).
struct Tree {
  int ranks;
  bool second;
  [[nodiscard]] int node(int rank) const {
    if (!second) return rank;
    return ranks % 2 == 0 ? ranks - 1 - rank : (rank + ranks - 1) % ranks;
  }
  [[nodiscard]] int rank(int node) const {
    if (!second) return node;
    return ranks % 2 == 0 ? ranks - 1 - node : (node + 1) % ranks;
  }
};

/// Each tree reduces and broadcasts one half of the data, pipelined in s segments, so that every
/// rank sends and receives all the time.
///
/// Each edge of a tree carries b / 2 bytes up and b / 2 down, in s messages each: all ranks
/// together send 2 (n - 1) b bytes, one rank at most 2 b (if n is odd, one sends up to 5 b / 2). s
/// = ceil(b / 2 / segment_bytes).
class DoubleTreeAllReduce final : public PlannedAllReduce {
 public:
  using Options = detail::SegmentOptions;
  explicit DoubleTreeAllReduce(const Options& options) : options_(options) {}

  CollectivePlan plan(const CollectiveSize& size) const override {
    CollectivePlan plan;
    const Parts halves(size.elements, 2);
    append(plan, size, {size.ranks, false}, halves[0]);
    append(plan, size, {size.ranks, true}, halves[1]);
    return plan;
  }

 private:
  void append(CollectivePlan& plan, const CollectiveSize& size, const Tree& tree,
              ElementRange half) const {
    const int n = size.ranks, node = tree.node(size.rank), depth = depth_of(node, n);
    int height = 0;
    std::vector<int> children;
    for (int other = 1; other < n; ++other) {
      height = std::max(height, depth_of(other, n));
      if (parent_of(other, n) == node) children.push_back(tree.rank(other));
    }
    const std::int64_t segments = options_.number((size.elements + 1) / 2, size.element_bytes);
    for (std::int64_t s = 0; s < segments; ++s) {
      const ElementRange range = detail::segment(half, s, segments);
      // The round of a message up follows from the sender's depth, that of one down from the
      // receiver's.
      const auto up = [&](int from) -> auto& { return plan.round(std::size_t(s + height - from)); };
      const auto down = [&](int to) -> auto& {
        return plan.round(std::size_t(s + height + to - 1));
      };
      for (const int child : children) {
        up(depth + 1).receives.push_back({child, range, Then::reduce});
        down(depth + 1).sends.push_back({child, range});
      }
      if (node == 0) continue;
      const int parent = tree.rank(parent_of(node, n));
      up(depth).sends.push_back({parent, range});
      down(depth).receives.push_back({parent, range});
    }
  }

  Options options_;
};

}  // namespace

/// Source: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction
/// and scan" (Parallel Computing 2009).
void register_double_tree(Registry<AllReduceEntry>& registry) {
  registry.add("double_tree", AllReduceEntry::of<DoubleTreeAllReduce>(
                                  "double binary tree, pipelined (Sanders et al., 2009)"));
}

}  // namespace d5::collective

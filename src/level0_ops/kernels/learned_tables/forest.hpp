// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// Comparison of a feature with a node's split, in the order of TreeEnsemble's numbers.
enum class Branch : std::uint8_t { leq, lt, gte, gt, eq, neq, member };

/// A child of a node: another node, or a leaf.
struct Child {
  std::int64_t place;  ///< index in the nodes, or in the leaves
  bool is_leaf;
};

/// An inner node of a tree.
struct TreeNode {
  Branch branch;
  std::int64_t feature;
  double split;  ///< unused by `member`
  Child on_true, on_false;
  bool missing_is_true = false;      ///< branch of a NaN that satisfies no comparison
  std::vector<double> members = {};  ///< set of `member`
};

/// A leaf's contribution to a target.
struct Vote {
  std::int64_t target;
  double weight;
};

/// Aggregation of a target's votes to its score.
enum class Aggregate : std::uint8_t { average, sum, min, max };

/// Decision trees, laid out for evaluation: nodes are in depth-first order.
class Forest {
 public:
  /// Nodes may be shared, without cycles. Throws: ValueError for cycles, indices outside the lists,
  /// negative features, and targets outside [0, targets).
  Forest(std::span<const TreeNode> nodes, std::span<const Child> roots,
         std::span<const std::vector<Vote>> leaves, std::int64_t targets, std::string_view who);

  [[nodiscard]] std::int64_t targets() const { return targets_; }
  /// The minimal number of features in a sample.
  [[nodiscard]] std::int64_t features() const { return features_; }
  /// The maximal number of comparisons per sample.
  [[nodiscard]] double comparisons() const { return comparisons_; }
  [[nodiscard]] std::size_t trees() const { return roots_.size(); }

  /// The scores of one sample; 0 for a target without a vote.
  template <class T>
  void evaluate(const T* sample, Aggregate aggregate, std::span<double> scores) const {
    begin(aggregate, scores);
    for (const std::int32_t root : roots_) {
      std::int32_t at = root;
      while (at >= 0) {
        const Node& node = nodes_[std::size_t(at)];
        at =
            leads(node, double(Arithmetic<T>(sample[node.feature]))) ? node.on_true : node.on_false;
      }
      add(std::size_t(~at), aggregate, scores);
    }
    end(aggregate, scores);
  }

 private:
  /// A child is a node's index, or ~index of a leaf.
  struct Node {
    double split;
    std::int32_t feature, on_true, on_false, set;
    Branch branch;
    bool missing_is_true;
  };
  class Layout;

  [[nodiscard]] bool leads(const Node& node, double value) const {
    return holds(node, value) || (node.missing_is_true && std::isnan(value));
  }
  [[nodiscard]] bool holds(const Node& node, double value) const {
    switch (node.branch) {
      case Branch::leq:
        return value <= node.split;
      case Branch::lt:
        return value < node.split;
      case Branch::gte:
        return value >= node.split;
      case Branch::gt:
        return value > node.split;
      case Branch::eq:
        return value == node.split;
      case Branch::neq:
        return value != node.split;
      case Branch::member:
        return is_member(std::size_t(node.set), value);
    }
    return false;
  }
  [[nodiscard]] bool is_member(std::size_t set, double value) const;
  static void begin(Aggregate aggregate, std::span<double> scores);
  void add(std::size_t leaf, Aggregate aggregate, std::span<double> scores) const;
  void end(Aggregate aggregate, std::span<double> scores) const;

  std::vector<Node> nodes_;
  std::vector<std::int32_t> roots_;
  std::vector<std::vector<double>> sets_;  // sorted
  std::vector<Vote> votes_;
  std::vector<std::size_t> leaf_ends_;  // ends in votes_; a leaf begins at the previous one's end
  std::int64_t targets_, features_ = 0;
  double comparisons_ = 0;
};

}  // namespace d5::detail

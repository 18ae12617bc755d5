// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/forest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Traverses the trees, and assigns each node's position at the first visit.
class Forest::Layout {
 public:
  Layout(Forest& forest, std::span<const TreeNode> nodes, std::size_t leaves, std::string_view who)
      : forest_(forest), given_(nodes), leaves_(leaves), who_(who), visits_(nodes.size()) {
    if (std::max(nodes.size(), leaves) >= std::size_t(std::numeric_limits<std::int32_t>::max())) {
      throw ValueError(
          fmt::format("{}: {} nodes and {} leaves are too many", who, nodes.size(), leaves));
    }
  }

  void add_tree(const Child& root) {
    check(root, "a root");
    std::size_t depth = 0;
    if (!root.is_leaf) enter(root.place);
    while (!path_.empty()) {
      depth = std::max(depth, path_.size());
      Step& step = path_.back();
      if (step.done == 2) {
        visits_[std::size_t(step.node)].is_open = false;
        path_.pop_back();
        continue;
      }
      const TreeNode& node = given_[std::size_t(step.node)];
      const Child& child = step.done++ == 0 ? node.on_true : node.on_false;
      check(child, fmt::format("node {}", step.node));
      if (child.is_leaf) continue;
      const Visit& visit = visits_[std::size_t(child.place)];
      if (visit.is_open) {
        throw ValueError(fmt::format("{}: node {} leads back to node {}; a tree has no cycles",
                                     who_, step.node, child.place));
      }
      if (visit.place < 0) enter(child.place);
    }
    forest_.comparisons_ += double(depth);
    roots_.push_back(root);
  }

  /// Sets the children, when all positions are known.
  void connect() {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (visits_[i].place < 0) continue;  // in no tree
      Node& node = forest_.nodes_[std::size_t(visits_[i].place)];
      node.on_true = place(given_[i].on_true);
      node.on_false = place(given_[i].on_false);
    }
    for (const Child& root : roots_) forest_.roots_.push_back(place(root));
  }

 private:
  struct Visit {
    std::int32_t place = -1;
    bool is_open = false;  // on the path from the root
  };
  struct Step {
    std::int64_t node;
    int done;  // number of visited children
  };

  void check(const Child& child, std::string_view from) const {
    const std::size_t count = child.is_leaf ? leaves_ : given_.size();
    if (child.place >= 0 && std::size_t(child.place) < count) return;
    throw ValueError(fmt::format("{}: {} leads to {} {}, but there are {}", who_, from,
                                 child.is_leaf ? "leaf" : "node", child.place, count));
  }

  void enter(std::int64_t i) {
    const TreeNode& node = given_[std::size_t(i)];
    if (node.feature < 0 || node.feature >= std::numeric_limits<std::int32_t>::max()) {
      throw ValueError(fmt::format("{}: node {} compares feature {}, expected 0 or more", who_, i,
                                   node.feature));
    }
    forest_.features_ = std::max(forest_.features_, node.feature + 1);
    visits_[std::size_t(i)] = {std::int32_t(forest_.nodes_.size()), true};
    forest_.nodes_.push_back({node.split, std::int32_t(node.feature), 0, 0,
                              std::int32_t(forest_.sets_.size()), node.branch,
                              node.missing_is_true});
    if (node.branch == Branch::member) {
      auto& set = forest_.sets_.emplace_back(node.members);
      std::erase_if(set, [](double value) { return std::isnan(value); });
      std::ranges::sort(set);
    }
    path_.push_back({i, 0});
  }

  [[nodiscard]] std::int32_t place(const Child& child) const {
    return child.is_leaf ? ~std::int32_t(child.place) : visits_[std::size_t(child.place)].place;
  }

  Forest& forest_;
  std::span<const TreeNode> given_;
  std::size_t leaves_;
  std::string_view who_;
  std::vector<Visit> visits_;
  std::vector<Step> path_;
  std::vector<Child> roots_;
};

Forest::Forest(std::span<const TreeNode> nodes, std::span<const Child> roots,
               std::span<const std::vector<Vote>> leaves, std::int64_t targets,
               std::string_view who)
    : targets_(targets) {
  if (roots.empty()) throw ValueError(fmt::format("{}: there is no tree", who));
  for (const auto& leaf : leaves) {
    for (const Vote& vote : leaf) {
      if (vote.target < 0 || vote.target >= targets) {
        throw ValueError(fmt::format("{}: a leaf votes for target {}, expected 0 to {}", who,
                                     vote.target, targets - 1));
      }
      votes_.push_back(vote);
    }
    leaf_ends_.push_back(votes_.size());
  }
  Layout layout(*this, nodes, leaves.size(), who);
  for (const Child& root : roots) layout.add_tree(root);
  layout.connect();
}

bool Forest::is_member(std::size_t set, double value) const {
  return !std::isnan(value) && std::ranges::binary_search(sets_[set], value);
}

// Minimum and maximum start with NaN, which means no votes.
void Forest::begin(Aggregate aggregate, std::span<double> scores) {
  const bool is_sum = aggregate == Aggregate::sum || aggregate == Aggregate::average;
  std::ranges::fill(scores, is_sum ? 0 : std::numeric_limits<double>::quiet_NaN());
}

void Forest::add(std::size_t leaf, Aggregate aggregate, std::span<double> scores) const {
  for (std::size_t i = leaf == 0 ? 0 : leaf_ends_[leaf - 1]; i < leaf_ends_[leaf]; ++i) {
    double& score = scores[std::size_t(votes_[i].target)];
    const double weight = votes_[i].weight;
    switch (aggregate) {
      case Aggregate::average:
      case Aggregate::sum:
        score += weight;
        break;
      case Aggregate::min:
        score = std::fmin(score, weight);
        break;
      case Aggregate::max:
        score = std::fmax(score, weight);
    }
  }
}

void Forest::end(Aggregate aggregate, std::span<double> scores) const {
  if (aggregate == Aggregate::sum) return;
  for (double& score : scores) {
    if (aggregate == Aggregate::average) {
      score /= double(trees());
    } else if (std::isnan(score)) {
      score = 0;
    }
  }
}

}  // namespace d5::detail

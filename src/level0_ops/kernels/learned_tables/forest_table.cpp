// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/forest_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// The number of a tree, and of a node within it.
using Name = std::pair<std::int64_t, std::int64_t>;

/// Nothing for a leaf.
std::optional<Branch> branch_of(const std::string& mode, std::string_view who) {
  constexpr std::array<std::string_view, 6> words = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                     "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  if (mode == "LEAF") return std::nullopt;
  const auto place = std::ranges::find(words, mode);
  if (place != words.end()) return Branch(place - words.begin());
  throw ValueError(
      fmt::format("{}: nodes_modes has {}, expected LEAF or BRANCH_ with LEQ, LT, GTE, "
                  "GT, EQ or NEQ",
                  who, printable(mode)));
}

void expect_length(std::string_view name, std::size_t length, std::size_t expected,
                   std::string_view who) {
  if (length == expected) return;
  throw ValueError(fmt::format("{}: {} has {} elements, expected {}", who, name, length, expected));
}

/// Reads a table into nodes, leaves and roots.
class TableReader {
 public:
  TableReader(const ForestTable& table, std::string_view who) : table_(table), who_(who) {
    check_lengths();
    name_nodes();
    for (std::size_t i = 0; i < table_.node_ids.size(); ++i) read_node(i);
    find_roots();
    read_votes();
  }

  std::vector<TreeNode> nodes;
  std::vector<Child> roots;
  std::vector<std::vector<Vote>> leaves;

 private:
  void check_lengths() const {
    const std::size_t count = table_.node_ids.size(), votes = table_.vote_nodes.size();
    expect_length("nodes_treeids", table_.tree_ids.size(), count, who_);
    expect_length("nodes_featureids", table_.feature_ids.size(), count, who_);
    expect_length("nodes_truenodeids", table_.true_ids.size(), count, who_);
    expect_length("nodes_falsenodeids", table_.false_ids.size(), count, who_);
    expect_length("nodes_modes", table_.modes.size(), count, who_);
    expect_length("nodes_values", table_.values.size(), count, who_);
    if (!table_.missing_tracks_true.empty()) {
      expect_length("nodes_missing_value_tracks_true", table_.missing_tracks_true.size(), count,
                    who_);
    }
    expect_length("the votes' tree ids", table_.vote_trees.size(), votes, who_);
    expect_length("the votes' targets", table_.vote_targets.size(), votes, who_);
    expect_length("the votes' weights", table_.vote_weights.size(), votes, who_);
  }

  void name_nodes() {
    for (std::size_t i = 0; i < table_.node_ids.size(); ++i) {
      const bool is_leaf = !branch_of(table_.modes[i], who_);
      const Child place{std::int64_t(is_leaf ? leaves.size() : branches_++), is_leaf};
      if (is_leaf) leaves.emplace_back();
      if (!places_.emplace(Name{table_.tree_ids[i], table_.node_ids[i]}, place).second) {
        throw ValueError(fmt::format("{}: tree {} has node {} twice", who_, table_.tree_ids[i],
                                     table_.node_ids[i]));
      }
    }
    nodes.reserve(branches_);
  }

  [[nodiscard]] Child child(std::size_t i, std::int64_t id) {
    const Name name{table_.tree_ids[i], id};
    const auto found = places_.find(name);
    if (found == places_.end()) {
      throw ValueError(fmt::format("{}: node {} of tree {} leads to node {}, which does not exist",
                                   who_, table_.node_ids[i], name.first, id));
    }
    has_parent_.insert(name);
    return found->second;
  }

  void read_node(std::size_t i) {
    const auto branch = branch_of(table_.modes[i], who_);
    if (!branch) return;
    nodes.push_back({*branch, table_.feature_ids[i], table_.values[i], child(i, table_.true_ids[i]),
                     child(i, table_.false_ids[i]),
                     !table_.missing_tracks_true.empty() && table_.missing_tracks_true[i] != 0});
  }

  /// Finds the roots, the nodes without a parent, in the order of tree numbers.
  void find_roots() {
    for (auto begin = places_.begin(); begin != places_.end();) {
      const std::int64_t tree = begin->first.first;
      int count = 0;
      for (; begin != places_.end() && begin->first.first == tree; ++begin) {
        if (has_parent_.contains(begin->first)) continue;
        roots.push_back(begin->second);
        ++count;
      }
      if (count != 1) {
        throw ValueError(
            fmt::format("{}: tree {} has {} nodes that no other leads to, expected one, its root",
                        who_, tree, count));
      }
    }
  }

  /// Reads the votes of leaves; those of inner nodes are ignored.
  void read_votes() {
    for (std::size_t i = 0; i < table_.vote_nodes.size(); ++i) {
      const auto found = places_.find({table_.vote_trees[i], table_.vote_nodes[i]});
      if (found == places_.end()) {
        throw ValueError(fmt::format("{}: a vote is of node {} of tree {}, which does not exist",
                                     who_, table_.vote_nodes[i], table_.vote_trees[i]));
      }
      if (!found->second.is_leaf) continue;
      leaves[std::size_t(found->second.place)].push_back(
          {table_.vote_targets[i], table_.vote_weights[i]});
    }
  }

  const ForestTable& table_;
  std::string_view who_;
  std::map<Name, Child> places_;
  std::set<Name> has_parent_;
  std::size_t branches_ = 0;
};

}  // namespace

std::vector<double> reals_of(const Tensor& tensor, std::string_view who) {
  std::vector<double> result;
  dispatch(FloatTypes{}, tensor.dtype(), who, [&]<class T>() {
    for (const T value : tensor.span<T>()) result.push_back(double(Arithmetic<T>(value)));
  });
  return result;
}

std::vector<double> reals_of(const std::optional<std::vector<float>>& list,
                             const std::optional<Tensor>& tensor, std::string_view who) {
  if (tensor) return reals_of(*tensor, who);
  return list ? std::vector<double>(list->begin(), list->end()) : std::vector<double>{};
}

Forest ForestTable::forest(std::int64_t targets, std::string_view who) const {
  const TableReader reader(*this, who);
  return Forest(reader.nodes, reader.roots, reader.leaves, targets, who);
}

}  // namespace d5::detail

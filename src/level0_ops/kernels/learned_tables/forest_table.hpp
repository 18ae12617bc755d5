// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "level0_ops/kernels/learned_tables/forest.hpp"

namespace d5::detail {

/// The elements of a tensor attribute. Throws: TypeError unless they are floats.
[[nodiscard]] std::vector<double> reals_of(const Tensor& tensor, std::string_view who);
/// The values of a list of floats, or of the alternative tensor attribute; empty without both.
[[nodiscard]] std::vector<double> reals_of(const std::optional<std::vector<float>>& list,
                                           const std::optional<Tensor>& tensor,
                                           std::string_view who);

/// Trees in the form of TreeEnsembleClassifier and TreeEnsembleRegressor: nodes, including leaves,
/// and votes with the leaf's number.
struct ForestTable {
  using Integers = std::vector<std::int64_t>;
  Integers tree_ids, node_ids, feature_ids, true_ids, false_ids;
  Integers missing_tracks_true;  ///< empty: false for all nodes
  std::vector<std::string> modes;
  std::vector<double> values;
  Integers vote_trees, vote_nodes, vote_targets;
  std::vector<double> vote_weights;

  /// Reads the attributes nodes_*, which both operators have.
  template <class View>
  static ForestTable of(const View& view, std::string_view who) {
    const auto list = [](const auto& values) { return values.value_or(Integers{}); };
    return {.tree_ids = list(view.nodes_treeids()),
            .node_ids = list(view.nodes_nodeids()),
            .feature_ids = list(view.nodes_featureids()),
            .true_ids = list(view.nodes_truenodeids()),
            .false_ids = list(view.nodes_falsenodeids()),
            .missing_tracks_true = list(view.nodes_missing_value_tracks_true()),
            .modes = view.nodes_modes().value_or(std::vector<std::string>{}),
            .values = reals_of(view.nodes_values(), view.nodes_values_as_tensor(), who),
            .vote_trees = {},
            .vote_nodes = {},
            .vote_targets = {},
            .vote_weights = {}};
  }

  /// Throws: ValueError for lists of different lengths, duplicate nodes, missing children, and
  /// trees without exactly one root.
  [[nodiscard]] Forest forest(std::int64_t targets, std::string_view who) const;
};

}  // namespace d5::detail

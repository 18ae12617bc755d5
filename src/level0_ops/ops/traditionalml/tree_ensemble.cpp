// SPDX-License-Identifier: Apache-2.0
// TreeEnsemble and TreeEnsembleRegressor: scores by decision trees. They differ in the encoding of
// trees.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/forest.hpp"
#include "level0_ops/kernels/learned_tables/forest_table.hpp"
#include "level0_ops/kernels/learned_tables/post_transform.hpp"

namespace d5::ops {
namespace {

namespace ml = onnx::nodes::ml;
using detail::Aggregate, detail::Forest, detail::PostTransform;

/// The node's model, ready to run.
struct Regression {
  std::shared_ptr<const Forest> forest;
  Aggregate aggregate;
  PostTransform transform;
  std::vector<double> base = {};  ///< added to the scores; empty: zero
};

std::int64_t target_count(std::optional<std::int64_t> given, const std::vector<std::int64_t>& voted,
                          std::string_view who) {
  if (given && *given < 1) {
    throw ValueError(fmt::format("{}: n_targets is {}, expected 1 or more", who, *given));
  }
  if (given) return *given;
  const std::int64_t last = voted.empty() ? 0 : std::max<std::int64_t>(0, std::ranges::max(voted));
  if (last == std::numeric_limits<std::int64_t>::max()) {
    throw ValueError(fmt::format("{}: target {} is voted for, expected a smaller one", who, last));
  }
  return last + 1;
}

/// Trees with common lists of nodes and leaves.
class SharedTrees {
 public:
  SharedTrees(const ml::TreeEnsemble& view, std::string_view who)
      : view_(view),
        who_(who),
        true_places_(view.nodes_truenodeids()),
        true_leaves_(view.nodes_trueleafs()),
        false_places_(view.nodes_falsenodeids()),
        false_leaves_(view.nodes_falseleafs()) {}

  [[nodiscard]] Forest forest() const {
    const auto voted = view_.leaf_targetids();
    const auto weights = detail::reals_of(view_.leaf_weights(), who_);
    expect_length("leaf_weights", weights.size(), voted.size());
    std::vector<std::vector<detail::Vote>> leaves;
    for (std::size_t i = 0; i < voted.size(); ++i) leaves.push_back({{voted[i], weights[i]}});
    std::vector<detail::Child> roots;
    for (const std::int64_t root : view_.tree_roots()) roots.push_back({root, false});
    return Forest(nodes(), roots, leaves, target_count(view_.n_targets(), voted, who_), who_);
  }

 private:
  [[nodiscard]] std::vector<detail::TreeNode> nodes() const {
    const Tensor modes = view_.nodes_modes();
    const auto features = view_.nodes_featureids();
    const auto splits = detail::reals_of(view_.nodes_splits(), who_);
    const auto missing = view_.nodes_missing_value_tracks_true().value_or(
        std::vector<std::int64_t>(features.size()));
    const std::size_t count = features.size();
    expect_length("nodes_modes", std::size_t(modes.elements()), count);
    expect_length("nodes_splits", splits.size(), count);
    expect_length("nodes_missing_value_tracks_true", missing.size(), count);
    for (const auto* list : {&true_places_, &true_leaves_, &false_places_, &false_leaves_}) {
      expect_length("the list of children", list->size(), count);
    }
    std::vector<double> members;
    if (const auto given = view_.membership_values()) members = detail::reals_of(*given, who_);
    auto member = members.begin();
    std::vector<detail::TreeNode> result;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint8_t mode = modes.data<std::uint8_t>()[i];
      if (mode > std::uint8_t(detail::Branch::member)) {
        throw ValueError(fmt::format("{}: nodes_modes has {}, expected 0 to 6", who_, int(mode)));
      }
      result.push_back({detail::Branch(mode),
                        features[i],
                        splits[i],
                        {true_places_[i], true_leaves_[i] != 0},
                        {false_places_[i], false_leaves_[i] != 0},
                        missing[i] != 0});
      if (result.back().branch != detail::Branch::member) continue;
      if (member == members.end()) {
        throw ValueError(fmt::format("{}: membership_values has no set for node {}", who_, i));
      }
      // Sets end with a NaN.
      const auto end = std::find_if(member, members.end(), [](double v) { return std::isnan(v); });
      result.back().members.assign(member, end);
      member = end == members.end() ? end : end + 1;
    }
    return result;
  }

  void expect_length(std::string_view name, std::size_t length, std::size_t expected) const {
    if (length == expected) return;
    throw ValueError(
        fmt::format("{}: {} has {} elements, expected {}", who_, name, length, expected));
  }

  const ml::TreeEnsemble& view_;
  std::string_view who_;
  std::vector<std::int64_t> true_places_, true_leaves_, false_places_, false_leaves_;
};

Regression read(const ml::TreeEnsemble& view) {
  const std::string who = onnx::describe(view.node());
  const std::int64_t aggregate = view.aggregate_function();
  if (aggregate < 0 || aggregate > 3) {
    throw ValueError(fmt::format("{}: aggregate_function is {}, expected 0 to 3", who, aggregate));
  }
  return {std::make_shared<const Forest>(SharedTrees(view, who).forest()), Aggregate(aggregate),
          detail::post_transform(view.post_transform(), who)};
}

Regression read(const ml::TreeEnsembleRegressor& view) {
  const std::string who = onnx::describe(view.node());
  auto table = detail::ForestTable::of(view, who);
  table.vote_trees = view.target_treeids().value_or(table.vote_trees);
  table.vote_nodes = view.target_nodeids().value_or(table.vote_nodes);
  table.vote_targets = view.target_ids().value_or(table.vote_targets);
  table.vote_weights =
      detail::reals_of(view.target_weights(), view.target_weights_as_tensor(), who);
  const std::int64_t targets = target_count(view.n_targets(), table.vote_targets, who);
  const std::string word = view.aggregate_function();
  const Aggregate aggregate = word == "AVERAGE" ? Aggregate::average
                              : word == "MIN"   ? Aggregate::min
                              : word == "MAX"   ? Aggregate::max
                                                : Aggregate::sum;
  if (aggregate == Aggregate::sum && word != "SUM") {
    throw ValueError(fmt::format("{}: aggregate_function is {}, expected AVERAGE, SUM, MIN or MAX",
                                 who, printable(word)));
  }
  Regression result{std::make_shared<const Forest>(table.forest(targets, who)), aggregate,
                    detail::post_transform(view.post_transform(), who),
                    detail::reals_of(view.base_values(), view.base_values_as_tensor(), who)};
  if (!result.base.empty() && std::int64_t(result.base.size()) != targets) {
    throw ValueError(
        fmt::format("{}: {} base_values for {} targets", who, result.base.size(), targets));
  }
  return result;
}

/// Shapes: X is N x F, Y is N x targets.
template <class View>
class TreeEnsemble final : public Operator {
 public:
  explicit TreeEnsemble(const View& view) : regression_(read(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const Forest& forest = *regression_.forest;
    if (features < forest.features()) {
      throw ShapeError(fmt::format("{}: X is {}, but a node compares feature {}", context.who(),
                                   to_string(context.shape(0)), forest.features() - 1));
    }
    const bool keeps_type = std::is_same_v<View, ml::TreeEnsemble>;
    return {
        TensorDesc{keeps_type ? context.dtype(0) : DType::float32, Shape{rows, forest.targets()}}};
  }

  /// A comparison per node on the longest path of each tree, and one addition.
  Cost cost(const InferContext& context) const override {
    const Forest& forest = *regression_.forest;
    return with_flop(context, double(detail::feature_rows(context).rows) *
                                  (forest.comparisons() + double(forest.trees())));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    context.request_scratch(std::size_t(rows * regression_.forest->targets()) * sizeof(double));
    using Given = Join<detail::FeatureTypes, Types<Float16>>;
    return kernel_for(Given{}, context.dtype(0), context, [&]<class T>() {
      using Result = std::conditional_t<std::is_same_v<View, ml::TreeEnsemble>, T, float>;
      return detail::forward_kernel([rows, features, model = regression_](OpContext& run) {
        const T* x = run.input(0).data<T>();
        Result* y = run.output(0).data<Result>();
        const std::int64_t targets = model.forest->targets();
        const auto work = std::int64_t(model.forest->trees()) * 16;
        detail::for_each_row(
            rows, targets, work, run, [&](std::int64_t r, std::span<double> scores) {
              model.forest->evaluate(x + r * features, model.aggregate, scores);
              for (std::size_t i = 0; i < model.base.size(); ++i) scores[i] += model.base[i];
              detail::transform_scores(model.transform, scores);
              for (std::size_t i = 0; i < scores.size(); ++i) {
                y[r * targets + std::int64_t(i)] = Result(Arithmetic<Result>(scores[i]));
              }
            });
      });
    });
  }

 private:
  Regression regression_;
};

}  // namespace

void register_tree_ensemble(OperatorRegistry& registry) {
  registry.add<TreeEnsemble<ml::TreeEnsemble>, ml::TreeEnsemble>();
  registry.add<TreeEnsemble<ml::TreeEnsembleRegressor>, ml::TreeEnsembleRegressor>();
}

}  // namespace d5::ops

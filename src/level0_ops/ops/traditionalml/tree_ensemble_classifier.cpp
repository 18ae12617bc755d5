// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier: the class with the largest score by decision trees.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/forest.hpp"
#include "level0_ops/kernels/learned_tables/forest_table.hpp"
#include "level0_ops/kernels/learned_tables/post_transform.hpp"

namespace d5::ops {
namespace {

using TreeEnsembleClassifierView = onnx::nodes::ml::TreeEnsembleClassifier;
using detail::OneScore;

/// The node's model, ready to run.
///
/// For two classes with votes for only one, a single score describes both. It supports the second
/// class: as its share if no weight is negative, else as a distance. With votes for the first, both
/// classes get a score; with votes for the second, the first's score is 0.
struct Classifier {
  detail::ClassLabels labels;
  std::shared_ptr<const detail::Forest> forest;
  std::vector<double> base;  ///< per class, or for the single score; empty: zero
  detail::PostTransform transform;
  std::optional<std::size_t> voted;  ///< the class of the single score
  OneScore kind;

  explicit Classifier(const TreeEnsembleClassifierView& view)
      : Classifier(view, onnx::describe(view.node())) {}

  /// Writes the scores of a sample to `scores`, one per class; returns the best class.
  template <class T>
  std::size_t classify(const T* sample, std::span<double> scores) const {
    forest->evaluate(sample, detail::Aggregate::sum, scores);
    if (voted) {
      // In the precision of the output: five votes of 0.1 are not a majority.
      scores[1] = double(float(scores[*voted] + (base.empty() ? 0 : base[0])));
      if (*voted == 0) detail::split_score(transform, kind, scores.first<2>());
    } else {
      for (std::size_t i = 0; i < base.size(); ++i) scores[i] += base[i];
    }
    return detail::transform_to_top(transform, scores);
  }

 private:
  Classifier(const TreeEnsembleClassifierView& view, const std::string& who)
      : labels(view.classlabels_int64s(), view.classlabels_strings(), who),
        base(detail::reals_of(view.base_values(), view.base_values_as_tensor(), who)),
        transform(detail::post_transform(view.post_transform(), who)) {
    auto table = detail::ForestTable::of(view, who);
    table.vote_trees = view.class_treeids().value_or(table.vote_trees);
    table.vote_nodes = view.class_nodeids().value_or(table.vote_nodes);
    table.vote_targets = view.class_ids().value_or(table.vote_targets);
    table.vote_weights =
        detail::reals_of(view.class_weights(), view.class_weights_as_tensor(), who);
    const auto& targets = table.vote_targets;
    const bool has_one_score =
        labels.size() == 2 && base.size() < 2 && !targets.empty() &&
        std::ranges::all_of(targets, [&](auto target) { return target == targets[0]; });
    const auto& weights = table.vote_weights;
    kind = std::ranges::any_of(weights, [](double w) { return w < 0; }) ? OneScore::signed_distance
                                                                        : OneScore::share;
    if (!base.empty() && base.size() != (has_one_score ? 1 : labels.size())) {
      throw ValueError(
          fmt::format("{}: {} base_values for {} classes", who, base.size(), labels.size()));
    }
    forest = std::make_shared<const detail::Forest>(table.forest(std::int64_t(labels.size()), who));
    if (has_one_score) voted = std::size_t(targets[0]);
  }
};

/// Shapes: X is N x F, Y has N labels, Z is N x classes. Z is always float32.
class TreeEnsembleClassifier final : public Operator {
 public:
  explicit TreeEnsembleClassifier(const TreeEnsembleClassifierView& view)
      : classifier_(std::make_shared<const Classifier>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const auto& [labels, forest] = std::tie(classifier_->labels, *classifier_->forest);
    if (features < forest.features()) {
      throw ShapeError(fmt::format("{}: X is {}, but a node compares feature {}", context.who(),
                                   to_string(context.shape(0)), forest.features() - 1));
    }
    return {TensorDesc{labels.dtype(), Shape{rows}},
            TensorDesc{DType::float32, Shape{rows, std::int64_t(labels.size())}}};
  }

  /// A comparison per node on the longest path of each tree, and one addition.
  Cost cost(const InferContext& context) const override {
    const detail::Forest& forest = *classifier_->forest;
    return with_flop(context, double(detail::feature_rows(context).rows) *
                                  (forest.comparisons() + double(forest.trees())));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const auto classes = std::int64_t(classifier_->labels.size());
    context.request_scratch(std::size_t(rows * classes) * sizeof(double));
    return kernel_for(detail::FeatureTypes{}, context.dtype(0), context, [&]<class T>() {
      return detail::forward_kernel([=, classifier = classifier_](OpContext& run) {
        const T* x = run.input(0).data<T>();
        Tensor& y = run.output(TreeEnsembleClassifierView::Out::Y);
        float* z = run.output(TreeEnsembleClassifierView::Out::Z).data<float>();
        const auto work = std::int64_t(classifier->forest->trees()) * 16;
        detail::for_each_row(
            rows, classes, work, run, [&](std::int64_t r, std::span<double> scores) {
              classifier->labels.write(classifier->classify(x + r * features, scores), y, r);
              std::ranges::transform(scores, z + r * classes, [](double s) { return float(s); });
            });
      });
    });
  }

 private:
  std::shared_ptr<const Classifier> classifier_;
};

}  // namespace

void register_tree_ensemble_classifier(OperatorRegistry& registry) {
  registry.add<TreeEnsembleClassifier, TreeEnsembleClassifierView>();
}

}  // namespace d5::ops

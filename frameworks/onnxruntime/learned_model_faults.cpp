// SPDX-License-Identifier: Apache-2.0
#include "learned_model_faults.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::onnxruntime {
namespace {

namespace ml = onnx::nodes::ml;
using Integers = std::vector<std::int64_t>;

template <class T>
std::size_t count_in(const std::optional<std::vector<T>>& list) {
  return list ? list->size() : 0;
}

bool is_one_of(const std::string& transform, std::initializer_list<const char*> words) {
  return std::ranges::find(words, transform) != words.end();
}

bool has_negative(const std::optional<std::vector<float>>& list,
                  const std::optional<Tensor>& tensor) {
  const auto is_negative = [](double x) { return x < 0; };
  if (list && std::ranges::any_of(*list, is_negative)) return true;
  if (!tensor) return false;
  bool found = false;
  dispatch(RealTypes{}, tensor->dtype(), "weights",
           [&]<class T>() { found = std::ranges::any_of(tensor->span<T>(), is_negative); });
  return found;
}

/// A score of one target: only PROBIT is applied.
std::string of_one_target(std::int64_t targets, const std::string& transform) {
  const bool is_left_out = targets == 1 && !is_one_of(transform, {"NONE", "PROBIT"});
  return is_left_out ? "the post_transform of one target, which it leaves out" : "";
}

std::int64_t targets_of(std::optional<std::int64_t> told, const Integers& voted) {
  if (told) return *told;
  return voted.empty() ? 1 : std::ranges::max(voted) + 1;
}

constexpr const char* kSeparateZeros =
    "SOFTMAX_ZERO, behind which the top class may be another than before it";

/// Whether some sample may have no vote for a class, because no tree has a vote for it at every
/// leaf.
bool may_lack_votes(const ml::TreeEnsembleClassifier& view, std::size_t labels) {
  std::map<std::int64_t, std::set<std::int64_t>> leaves;  // keyed by tree
  const Integers trees = view.nodes_treeids().value_or(Integers{}),
                 nodes = view.nodes_nodeids().value_or(Integers{});
  const auto modes = view.nodes_modes().value_or(std::vector<std::string>{});
  for (std::size_t i = 0; i < std::min({trees.size(), nodes.size(), modes.size()}); ++i) {
    if (modes[i] == "LEAF") leaves[trees[i]].insert(nodes[i]);
  }
  std::map<std::pair<std::int64_t, std::int64_t>, std::set<std::int64_t>> voting;  // class, tree
  const Integers vote_trees = view.class_treeids().value_or(Integers{}),
                 vote_nodes = view.class_nodeids().value_or(Integers{}),
                 classes = view.class_ids().value_or(Integers{});
  const std::size_t votes = std::min({vote_trees.size(), vote_nodes.size(), classes.size()});
  for (std::size_t i = 0; i < votes; ++i) {
    voting[{classes[i], vote_trees[i]}].insert(vote_nodes[i]);
  }
  for (std::size_t label = 0; label < labels; ++label) {
    const bool always = std::ranges::any_of(leaves, [&](const auto& tree) {
      const auto place = voting.find({std::int64_t(label), tree.first});
      return place != voting.end() && place->second == tree.second;
    });
    if (!always) return true;
  }
  return false;
}

/// Fault with two classes, by the class that all votes are for, 0 or 1; 2 if both have votes.
std::string of_two_classes(const ml::TreeEnsembleClassifier& view, std::int64_t voted,
                           bool is_signed, std::size_t bases) {
  const std::string transform = view.post_transform();
  if (voted == 2) return "two classes with votes for both: it takes the second if that is above 0";
  if (bases > 1 || (voted == 1 && bases > 0)) {
    return "base_values of two classes with votes for one alone, which it adds to the other";
  }
  if (voted == 1) {
    if (!is_signed) return "two classes with votes for the second: it takes that above 0.5";
    return transform == "SOFTMAX_ZERO" ? kSeparateZeros : "";
  }
  if (transform == "LOGISTIC" && !is_signed) {
    return "LOGISTIC of one score without negative weights: it takes the second class above 0.5, "
           "not above 0";
  }
  return is_one_of(transform, {"NONE", "LOGISTIC"})
             ? ""
             : "the post_transform of two classes that have one score, which it leaves out";
}

}  // namespace

std::string in_tree_classifier(const KnownNode& known) {
  const ml::TreeEnsembleClassifier view(known.node);
  const std::size_t labels =
      std::max(count_in(view.classlabels_int64s()), count_in(view.classlabels_strings()));
  const bool is_signed = has_negative(view.class_weights(), view.class_weights_as_tensor());
  const auto base_tensor = view.base_values_as_tensor();
  const std::size_t bases =
      count_in(view.base_values()) + std::size_t(base_tensor ? base_tensor->elements() : 0);
  const Integers ids = view.class_ids().value_or(Integers{});
  if (labels == 2 && !ids.empty()) {
    const bool is_one = std::ranges::all_of(ids, [&](auto id) { return id == ids[0]; });
    return of_two_classes(view, is_one ? ids[0] : 2, is_signed, bases);
  }
  if (!is_signed && !has_negative(view.base_values(), base_tensor)) return {};
  if (view.post_transform() == "SOFTMAX_ZERO") return kSeparateZeros;
  return may_lack_votes(view, labels)
             ? "negative votes, and samples with none for some class, which it leaves out"
             : "";
}

std::string in_tree_regressor(const KnownNode& known) {
  const ml::TreeEnsembleRegressor view(known.node);
  return of_one_target(targets_of(view.n_targets(), view.target_ids().value_or(Integers{})),
                       view.post_transform());
}

std::string in_tree_ensemble(const KnownNode& known) {
  const ml::TreeEnsemble view(known.node);
  constexpr const char* kWords[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::int64_t number = view.post_transform();
  if (number < 0 || number >= std::ssize(kWords)) return {};
  return of_one_target(targets_of(view.n_targets(), view.leaf_targetids()), kWords[number]);
}

std::string in_linear_classifier(const KnownNode& known) {
  const ml::LinearClassifier view(known.node);
  const std::string transform = view.post_transform();
  const auto labels = std::int64_t(
      std::max(count_in(view.classlabels_ints()), count_in(view.classlabels_strings())));
  const onnx::Type x = known.type(0);
  const auto* features = x.dims.empty() ? nullptr : std::get_if<std::int64_t>(&x.dims.back());
  const auto* coefficients = known.node.attribute<std::vector<float>>("coefficients");
  // If the features are unknown, there is one intercept per score.
  const bool has_one_score =
      labels == 2 && (features && coefficients ? std::int64_t(coefficients->size()) == *features
                                               : count_in(view.intercepts()) == 1);
  if (has_one_score && transform != "LOGISTIC") {
    return "two classes of one score s, which it makes 1 - s and s, not -s and s";
  }
  return !has_one_score && transform == "SOFTMAX_ZERO" ? kSeparateZeros : "";
}

std::string in_linear_regressor(const KnownNode& known) {
  const ml::LinearRegressor view(known.node);
  return of_one_target(view.targets(), view.post_transform());
}

std::string in_svm_classifier(const KnownNode& known) {
  const ml::SVMClassifier view(known.node);
  const std::string transform = view.post_transform();
  const Integers counts = view.vectors_per_class().value_or(Integers{});
  const bool is_linear = std::ranges::all_of(counts, [](auto count) { return count == 0; });
  if (is_linear) return transform == "SOFTMAX_ZERO" ? kSeparateZeros : "";
  const bool has_one_score = counts.size() == 2 && count_in(view.prob_a()) == 0;
  return has_one_score && !is_one_of(transform, {"NONE", "LOGISTIC"})
             ? "the post_transform of two classes that have one score, which it leaves out"
             : "";
}

std::string in_svm_regressor(const KnownNode& known) {
  const ml::SVMRegressor view(known.node);
  return view.one_class() != 0 ? "" : of_one_target(1, view.post_transform());
}

}  // namespace d5::onnxruntime

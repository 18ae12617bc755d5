// SPDX-License-Identifier: Apache-2.0
// SVMClassifier: classifies by support vectors, with one vote per pair of classes; or, without
// support vectors, by one hyperplane per class.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/post_transform.hpp"
#include "level0_ops/kernels/learned_tables/svm_kernel.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::detail {
namespace {

/// Class probabilities from pairwise ones: `pairs[i * k + j]` is the probability of class i among i
/// and j, for k classes. `scratch` has k * k + k numbers.
///
/// Source: Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
/// coupling" (2004), their second method.
void couple(std::span<const double> pairs, std::span<double> p, std::span<double> scratch) {
  const std::size_t k = p.size();
  const std::span q = scratch.first(k * k), qp = scratch.subspan(k * k, k);
  for (std::size_t t = 0; t < k; ++t) {
    double diagonal = 0;
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      diagonal += pairs[j * k + t] * pairs[j * k + t];
      q[t * k + j] = -pairs[j * k + t] * pairs[t * k + j];
    }
    q[t * k + t] = diagonal;
  }
  std::ranges::fill(p, 1.0 / double(k));
  const double tolerance = 0.005 / double(k);
  const std::size_t most_rounds = std::max<std::size_t>(100, k);
  for (std::size_t round = 0; round < most_rounds; ++round) {
    double pqp = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (std::size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    // All elements of Qp are equal at the minimum.
    if (std::ranges::all_of(qp, [&](double v) { return std::fabs(v - pqp) < tolerance; })) return;
    for (std::size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t * k + t], norm = 1 + step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / (norm * norm);
      p[t] += step;
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / norm;
        p[j] /= norm;
      }
    }
  }
}

}  // namespace
}  // namespace d5::detail

namespace d5::ops {
namespace {

using SVMClassifierView = onnx::nodes::ml::SVMClassifier;
using Floats = std::vector<float>;

double probability(double score, float a, float b) {
  const double share = 1 / (1 + std::exp(score * double(a) + double(b)));
  return std::clamp(share, 1e-7, 1 - 1e-7);
}

class SupportVectors {
 public:
  explicit SupportVectors(const SVMClassifierView& view)
      : SupportVectors(view, onnx::describe(view.node())) {}

  [[nodiscard]] const detail::ClassLabels& labels() const { return labels_; }
  [[nodiscard]] std::int64_t features() const { return features_; }
  /// The number of output scores per sample.
  [[nodiscard]] std::size_t scores() const {
    return is_linear() || gives_probabilities() ? classes() : std::max<std::size_t>(pairs(), 2);
  }
  /// Scratch for products with the support vectors, pair scores and votes, and for coupling.
  [[nodiscard]] std::size_t scratch() const {
    const std::size_t coupling = gives_probabilities() ? 2 * classes() * classes() + classes() : 0;
    return vectors() + std::max<std::size_t>(pairs(), 2) + classes() + coupling;
  }
  [[nodiscard]] double flop() const {
    return 2 * double(is_linear() ? coefficients_.size() : vectors_.size()) +
           2 * double(vectors() * classes());
  }

  /// Writes scores to `z`; returns the class.
  template <class T>
  std::size_t classify(const T* x, std::span<double> z, std::span<double> scratch) const {
    return is_linear() ? choose_plane(x, z) : vote(x, z, scratch);
  }

 private:
  SupportVectors(const SVMClassifierView& view, const std::string& who)
      : labels_(view.classlabels_ints(), view.classlabels_strings(), who),
        kernel_(view.kernel_type(), view.kernel_params(), who),
        transform_(detail::post_transform(view.post_transform(), who)),
        counts_(view.vectors_per_class().value_or(std::vector<std::int64_t>{})),
        vectors_(view.support_vectors().value_or(Floats{})),
        coefficients_(view.coefficients().value_or(Floats{})),
        rho_(view.rho().value_or(Floats{})),
        prob_a_(view.prob_a().value_or(Floats{})),
        prob_b_(view.prob_b().value_or(Floats{})) {
    std::int64_t total = 0;
    for (const std::int64_t count : counts_) {
      if (count < 0 || count > std::int64_t(vectors_.size())) {
        throw ValueError(fmt::format("{}: vectors_per_class has {}", who, count));
      }
      starts_.push_back(std::size_t(total));
      total += count;
    }
    starts_.push_back(std::size_t(total));
    const auto expect = [&](std::string_view name, std::size_t given, bool is_right) {
      if (is_right) return;
      throw ValueError(
          fmt::format("{}: {} has {} elements, which does not fit {} classes and {} vectors", who,
                      name, given, classes(), total));
    };
    if (is_linear()) {
      expect("coefficients", coefficients_.size(),
             !coefficients_.empty() && coefficients_.size() % classes() == 0);
      expect("rho", rho_.size(), !rho_.empty());
      features_ = std::int64_t(coefficients_.size() / classes());
      return;
    }
    expect("vectors_per_class", counts_.size(), counts_.size() == classes() && classes() > 1);
    expect("support_vectors", vectors_.size(), vectors_.size() % vectors() == 0);
    expect("coefficients", coefficients_.size(),
           coefficients_.size() == (classes() - 1) * vectors());
    expect("rho", rho_.size(), rho_.size() == pairs());
    expect("prob_a", prob_a_.size(), prob_a_.empty() || prob_a_.size() == pairs());
    expect("prob_b", prob_b_.size(), prob_b_.size() == prob_a_.size());
    features_ = std::int64_t(vectors_.size() / vectors());
  }

  [[nodiscard]] std::size_t classes() const { return labels_.size(); }
  [[nodiscard]] std::size_t pairs() const { return classes() * (classes() - 1) / 2; }
  [[nodiscard]] std::size_t vectors() const { return starts_.back(); }
  [[nodiscard]] bool is_linear() const { return vectors() == 0; }
  [[nodiscard]] bool gives_probabilities() const { return !prob_a_.empty(); }

  /// All hyperplanes have the first offset, as in ONNX Runtime.
  template <class T>
  std::size_t choose_plane(const T* x, std::span<double> z) const {
    for (std::size_t c = 0; c < z.size(); ++c) {
      const float* plane = coefficients_.data() + c * std::size_t(features_);
      z[c] = double(rho_[0]);
      for (std::int64_t f = 0; f < features_; ++f) z[c] += double(x[f]) * double(plane[f]);
    }
    return detail::transform_to_top(transform_, z);
  }

  template <class T>
  std::size_t vote(const T* x, std::span<double> z, std::span<double> scratch) const {
    const std::span products = scratch.first(vectors());
    const std::span scores = scratch.subspan(vectors(), std::max<std::size_t>(pairs(), 2));
    const std::span votes = scratch.subspan(vectors() + scores.size(), classes());
    for (std::size_t v = 0; v < vectors(); ++v) {
      products[v] = kernel_(x, vectors_.data() + v * std::size_t(features_), features_);
    }
    std::ranges::fill(votes, 0);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes(); ++i) {
      for (std::size_t j = i + 1; j < classes(); ++j, ++pair) {
        scores[pair] = double(rho_[pair]) + sum(j - 1, i, products) + sum(i, j, products);
        votes[scores[pair] > 0 ? i : j] += 1;
      }
    }
    if (gives_probabilities()) {
      write_probabilities(scores, z, scratch.subspan(vectors() + scores.size() + votes.size()));
    } else if (pairs() == 1) {
      z[1] = scores[0];
      detail::split_score(transform_, detail::OneScore::signed_distance, z.first<2>());
      detail::transform_scores(transform_, z);
    } else {
      std::ranges::copy(scores, z.begin());
      detail::transform_scores(transform_, z);
    }
    return std::size_t(std::ranges::max_element(votes) - votes.begin());
  }

  /// The weighted sum over a class's vectors, with coefficients in row `row`.
  [[nodiscard]] double sum(std::size_t row, std::size_t of,
                           std::span<const double> products) const {
    double result = 0;
    for (std::size_t v = starts_[of]; v < starts_[of + 1]; ++v) {
      result += double(coefficients_[row * vectors() + v]) * products[v];
    }
    return result;
  }

  void write_probabilities(std::span<const double> scores, std::span<double> z,
                           std::span<double> scratch) const {
    const std::size_t k = classes();
    const std::span each = scratch.first(k * k);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = i + 1; j < k; ++j, ++pair) {
        each[i * k + j] = probability(scores[pair], prob_a_[pair], prob_b_[pair]);
        each[j * k + i] = 1 - each[i * k + j];
      }
    }
    detail::couple(each, z, scratch.subspan(k * k));
    detail::transform_scores(transform_, z);
  }

  detail::ClassLabels labels_;
  detail::SvmKernel kernel_;
  detail::PostTransform transform_;
  std::vector<std::int64_t> counts_;
  std::vector<std::size_t> starts_;  // begin of each class's vectors, and the end
  Floats vectors_;                   // vectors x features
  Floats coefficients_;              // classes - 1 x vectors, or classes x features
  Floats rho_, prob_a_, prob_b_;     // per pair
  std::int64_t features_ = 0;
};

/// Shapes: X is N x F, Y has N labels. Z has N rows: a score per class, or per pair for three or
/// more classes without probabilities.
class SVMClassifier final : public Operator {
 public:
  explicit SVMClassifier(const SVMClassifierView& view)
      : machine_(std::make_shared<const SupportVectors>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    if (features != machine_->features()) {
      throw ShapeError(fmt::format("{}: X is {}, expected {} features", context.who(),
                                   to_string(context.shape(0)), machine_->features()));
    }
    return {TensorDesc{machine_->labels().dtype(), Shape{rows}},
            TensorDesc{DType::float32, Shape{rows, std::int64_t(machine_->scores())}}};
  }

  Cost cost(const InferContext& context) const override {
    return with_flop(context, double(detail::feature_rows(context).rows) * machine_->flop());
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const std::size_t scores = machine_->scores(), scratch = machine_->scratch();
    context.request_scratch(std::size_t(rows) * (scores + scratch) * sizeof(double));
    return kernel_for(detail::FeatureTypes{}, context.dtype(0), context, [&]<class T>() {
      return detail::forward_kernel([=, machine = machine_](OpContext& run) {
        const T* x = run.input(0).data<T>();
        Tensor& y = run.output(SVMClassifierView::Out::Y);
        float* z = run.output(SVMClassifierView::Out::Z).data<float>();
        const auto work = std::int64_t(machine->flop());
        detail::parallel_for_each(rows, work, 16384, [&](std::int64_t r) {
          const std::span own(run.scratch_as<double>() + std::size_t(r) * (scores + scratch),
                              scores + scratch);
          const std::span<double> result = own.first(scores);
          machine->labels().write(machine->classify(x + r * features, result, own.subspan(scores)),
                                  y, r);
          std::ranges::transform(result, z + r * std::int64_t(scores),
                                 [](double s) { return float(s); });
        });
      });
    });
  }

 private:
  std::shared_ptr<const SupportVectors> machine_;
};

}  // namespace

void register_svm_classifier(OperatorRegistry& registry) {
  registry.add<SVMClassifier, SVMClassifierView>();
}

}  // namespace d5::ops

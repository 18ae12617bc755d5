// SPDX-License-Identifier: Apache-2.0
// LinearClassifier and LinearRegressor: scores that are weighted sums of features.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/class_labels.hpp"
#include "level0_ops/kernels/feature_rows.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/post_transform.hpp"

namespace d5::ops {
namespace {

namespace ml = onnx::nodes::ml;
using detail::FeatureRows, detail::PostTransform;

/// Score k of a sample is coefficients[k] . sample + intercepts[k].
struct LinearModel {
  std::vector<float> coefficients;  // scores x features
  std::vector<float> intercepts;    // empty: 0
  PostTransform transform;

  template <class View>
  explicit LinearModel(const View& view)
      : intercepts(view.intercepts().value_or(std::vector<float>{})),
        transform(detail::post_transform(view.post_transform(), onnx::describe(view.node()))) {
    if (const auto* given = view.node().template attribute<std::vector<float>>("coefficients")) {
      coefficients = *given;
    }
  }

  void check(const InferContext& context, std::int64_t scores) const {
    const std::int64_t features = detail::feature_rows(context).features;
    if (scores < 1 || features < 1 || std::int64_t(coefficients.size()) % scores != 0 ||
        std::int64_t(coefficients.size()) / scores != features) {
      throw ShapeError(fmt::format("{}: X is {}, but there are {} coefficients for {} scores",
                                   context.who(), to_string(context.shape(0)), coefficients.size(),
                                   scores));
    }
    if (!intercepts.empty() && std::int64_t(intercepts.size()) != scores) {
      throw ValueError(
          fmt::format("{}: {} intercepts for {} scores", context.who(), intercepts.size(), scores));
    }
  }

  template <class T>
  void evaluate(const T* sample, std::int64_t features, std::span<double> scores) const {
    const float* weight = coefficients.data();
    for (std::size_t k = 0; k < scores.size(); ++k) {
      double sum = intercepts.empty() ? 0 : double(intercepts[k]);
      for (std::int64_t f = 0; f < features; ++f) sum += double(sample[f]) * double(*weight++);
      scores[k] = sum;
    }
  }
};

/// Of one score, two classes are told apart: the second has it where it is positive.
struct LinearClasses {
  LinearModel model;
  detail::ClassLabels labels;

  explicit LinearClasses(const ml::LinearClassifier& view)
      : model(view),
        labels(view.classlabels_ints(), view.classlabels_strings(), onnx::describe(view.node())) {}

  [[nodiscard]] bool has_one_score(std::int64_t features) const {
    return labels.size() == 2 && std::int64_t(model.coefficients.size()) == features;
  }

  template <class T>
  std::size_t classify(const T* sample, std::int64_t features, std::span<double> scores) const {
    if (has_one_score(features)) {
      model.evaluate(sample, features, scores.last(1));
      const std::size_t best = scores[1] > 0 ? 1 : 0;
      detail::transform_one_score(model.transform, detail::OneScore::share, scores.first<2>());
      return best;
    }
    model.evaluate(sample, features, scores);
    const auto best = std::size_t(std::ranges::max_element(scores) - scores.begin());
    detail::transform_scores(model.transform, scores);
    return best;
  }
};

template <class T>
class ClassifierKernel final : public Kernel {
 public:
  ClassifierKernel(FeatureRows x, std::shared_ptr<const LinearClasses> classes)
      : x_(x), classes_(std::move(classes)) {}

  void forward(OpContext& context) override {
    using Out = ml::LinearClassifier::Out;
    const T* x = context.input(0).data<T>();
    Tensor& y = context.output(Out::Y);
    float* z = context.output(Out::Z).data<float>();
    const auto count = std::int64_t(classes_->labels.size());
    detail::parallel_for_each(x_.rows, count * x_.features, 16384, [&](std::int64_t r) {
      const std::span scores(context.scratch_as<double>() + r * count, std::size_t(count));
      const T* sample = x + r * x_.features;
      classes_->labels.write(classes_->classify(sample, x_.features, scores), y, r);
      std::ranges::transform(scores, z + r * count, [](double s) { return float(s); });
    });
  }

 private:
  FeatureRows x_;
  std::shared_ptr<const LinearClasses> classes_;
};

/// Shapes: X is N x F, Y has N labels, Z is N x classes.
class LinearClassifier final : public Operator {
 public:
  explicit LinearClassifier(const ml::LinearClassifier& view)
      : classes_(std::make_shared<const LinearClasses>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const auto count = std::int64_t(classes_->labels.size());
    classes_->model.check(context, classes_->has_one_score(features) ? 1 : count);
    return {TensorDesc{classes_->labels.dtype(), Shape{rows}},
            TensorDesc{DType::float32, Shape{rows, count}}};
  }

  Cost cost(const InferContext& context) const override {
    return with_flop(context, 2 * double(detail::feature_rows(context).rows) *
                                  double(classes_->model.coefficients.size()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const FeatureRows x = detail::feature_rows(context);
    context.request_scratch(std::size_t(x.rows) * classes_->labels.size() * sizeof(double));
    return kernel_for(detail::FeatureTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<ClassifierKernel<T>>(x, classes_);
    });
  }

 private:
  std::shared_ptr<const LinearClasses> classes_;
};

template <class T>
class RegressorKernel final : public Kernel {
 public:
  RegressorKernel(FeatureRows x, std::int64_t targets, std::shared_ptr<const LinearModel> model)
      : x_(x), targets_(targets), model_(std::move(model)) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    float* y = context.output(0).data<float>();
    detail::parallel_for_each(x_.rows, targets_ * x_.features, 16384, [&](std::int64_t r) {
      const std::span scores(context.scratch_as<double>() + r * targets_, std::size_t(targets_));
      model_->evaluate(x + r * x_.features, x_.features, scores);
      detail::transform_scores(model_->transform, scores);
      std::ranges::transform(scores, y + r * targets_, [](double s) { return float(s); });
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const float* up = context.grad_output(0).data<float>();
      T* down = context.grad_input(0).data<T>();
      detail::parallel_for_each(x_.rows, targets_ * x_.features, 16384, [&](std::int64_t r) {
        for (std::int64_t f = 0; f < x_.features; ++f) {
          double sum = 0;
          for (std::int64_t k = 0; k < targets_; ++k) {
            sum += double(up[r * targets_ + k]) *
                   double(model_->coefficients[std::size_t(k * x_.features + f)]);
          }
          down[r * x_.features + f] = T(sum);
        }
      });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  FeatureRows x_;
  std::int64_t targets_;
  std::shared_ptr<const LinearModel> model_;
};

/// Shapes: X is N x F, Y is N x targets.
class LinearRegressor final : public Operator {
 public:
  explicit LinearRegressor(const ml::LinearRegressor& view)
      : targets_(view.targets()), model_(std::make_shared<const LinearModel>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    model_->check(context, targets_);
    return {TensorDesc{DType::float32, Shape{detail::feature_rows(context).rows, targets_}}};
  }

  Places gradients() const override { return {0}; }

  Cost cost(const InferContext& context) const override {
    return with_flop(context, 2 * double(detail::feature_rows(context).rows) *
                                  double(model_->coefficients.size()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.wants_backward() && model_->transform != PostTransform::none) {
      throw Unsupported(fmt::format("{} has no gradient through post_transform", context.who()));
    }
    const FeatureRows x = detail::feature_rows(context);
    context.request_scratch(std::size_t(x.rows * targets_) * sizeof(double));
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<RegressorKernel<T>>(x, targets_, model_); });
  }

 private:
  std::int64_t targets_;
  std::shared_ptr<const LinearModel> model_;
};

}  // namespace

void register_linear_model(OperatorRegistry& registry) {
  registry.add<LinearClassifier, ml::LinearClassifier>();
  registry.add<LinearRegressor, ml::LinearRegressor>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// LinearClassifier: the class with the largest weighted sum of features.
#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/class_labels.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/linear_model.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using LinearClassifierView = onnx::nodes::ml::LinearClassifier;
using detail::FeatureRows;

/// A single score distinguishes two classes: it is the second's score, its negative the first's.
struct LinearClasses {
  detail::LinearModel model;
  detail::ClassLabels labels;

  explicit LinearClasses(const LinearClassifierView& view)
      : model(view),
        labels(view.classlabels_ints(), view.classlabels_strings(), onnx::describe(view.node())) {}

  [[nodiscard]] bool has_one_score(std::int64_t features) const {
    return labels.size() == 2 && std::int64_t(model.coefficients.size()) == features;
  }

  template <class T>
  std::size_t classify(const T* sample, std::int64_t features, std::span<double> scores) const {
    if (has_one_score(features)) {
      model.evaluate(sample, features, scores.last(1));
      detail::split_score(model.transform, detail::OneScore::signed_distance, scores.first<2>());
    } else {
      model.evaluate(sample, features, scores);
    }
    return detail::transform_to_top(model.transform, scores);
  }

  /// Computes the gradient of a sample from that of its scores `z`, which is overwritten.
  template <class T>
  void differentiate(const float* z, std::span<double> gradients, std::int64_t features,
                     T* sample) const {
    detail::differentiate(model.transform, z, gradients);
    if (!has_one_score(features)) return model.differentiate(gradients, features, sample);
    gradients[1] -= gradients[0];  // the first class has the negative score
    model.differentiate(gradients.last(1), features, sample);
  }
};

template <class T>
class ClassifierKernel final : public Kernel {
  using Out = LinearClassifierView::Out;

 public:
  ClassifierKernel(FeatureRows x, std::shared_ptr<const LinearClasses> classes)
      : x_(x), count_(std::int64_t(classes->labels.size())), classes_(std::move(classes)) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    Tensor& y = context.output(Out::Y);
    float* z = context.output(Out::Z).data<float>();
    detail::for_each_row(
        x_.rows, count_, count_ * x_.features, context,
        [&](std::int64_t r, std::span<double> scores) {
          const T* sample = x + r * x_.features;
          classes_->labels.write(classes_->classify(sample, x_.features, scores), y, r);
          std::ranges::transform(scores, z + r * count_, [](double s) { return float(s); });
        });
  }

  /// Gradient of the scores; labels have none.
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      if (!context.has_grad_output(Out::Z)) {
        detail::zero_elements(context.grad_input(0));
        return;
      }
      const float* z = context.output(Out::Z).data<float>();
      const float* dz = context.grad_output(Out::Z).data<float>();
      T* dx = context.grad_input(0).data<T>();
      detail::for_each_row(x_.rows, count_, count_ * x_.features, context,
                           [&](std::int64_t r, std::span<double> gradients) {
                             std::copy_n(dz + r * count_, count_, gradients.begin());
                             classes_->differentiate(z + r * count_, gradients, x_.features,
                                                     dx + r * x_.features);
                           });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {Out::Z}};
  }

 private:
  FeatureRows x_;
  std::int64_t count_;
  std::shared_ptr<const LinearClasses> classes_;
};

/// Shapes: X is N x F, Y has N labels, Z is N x classes.
class LinearClassifier final : public Operator {
 public:
  explicit LinearClassifier(const LinearClassifierView& view)
      : classes_(std::make_shared<const LinearClasses>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    const auto count = std::int64_t(classes_->labels.size());
    classes_->model.check(context, classes_->has_one_score(features) ? 1 : count);
    return {TensorDesc{classes_->labels.dtype(), Shape{rows}},
            TensorDesc{DType::float32, Shape{rows, count}}};
  }

  Places gradients() const override { return {0}; }

  Cost cost(const InferContext& context) const override {
    return with_flop(context, 2 * double(detail::feature_rows(context).rows) *
                                  double(classes_->model.coefficients.size()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (context.wants_backward()) detail::expect_slope(classes_->model.transform, context.who());
    const FeatureRows x = detail::feature_rows(context);
    context.request_scratch(std::size_t(x.rows) * classes_->labels.size() * sizeof(double));
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<ClassifierKernel<T>>(x, classes_); });
  }

 private:
  std::shared_ptr<const LinearClasses> classes_;
};

}  // namespace

void register_linear_classifier(OperatorRegistry& registry) {
  registry.add<LinearClassifier, LinearClassifierView>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// LinearRegressor: weighted sums of features.
#include <algorithm>
#include <concepts>
#include <memory>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/linear_model.hpp"

namespace d5::ops {
namespace {

using LinearRegressorView = onnx::nodes::ml::LinearRegressor;
using detail::FeatureRows, detail::LinearModel;

template <class T>
class RegressorKernel final : public Kernel {
 public:
  RegressorKernel(FeatureRows x, std::int64_t targets, std::shared_ptr<const LinearModel> model)
      : x_(x), targets_(targets), model_(std::move(model)) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    float* y = context.output(0).data<float>();
    detail::for_each_row(x_.rows, targets_, targets_ * x_.features, context,
                         [&](std::int64_t r, std::span<double> scores) {
                           model_->evaluate(x + r * x_.features, x_.features, scores);
                           detail::transform_scores(model_->transform, scores);
                           std::ranges::transform(scores, y + r * targets_,
                                                  [](double s) { return float(s); });
                         });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const float* y = context.output(0).data<float>();
      const float* dy = context.grad_output(0).data<float>();
      T* dx = context.grad_input(0).data<T>();
      detail::for_each_row(x_.rows, targets_, targets_ * x_.features, context,
                           [&](std::int64_t r, std::span<double> gradients) {
                             std::copy_n(dy + r * targets_, targets_, gradients.begin());
                             detail::differentiate(model_->transform, y + r * targets_, gradients);
                             model_->differentiate(gradients, x_.features, dx + r * x_.features);
                           });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {0}};
  }

 private:
  FeatureRows x_;
  std::int64_t targets_;
  std::shared_ptr<const LinearModel> model_;
};

/// Shapes: X is N x F, Y is N x targets.
class LinearRegressor final : public Operator {
 public:
  explicit LinearRegressor(const LinearRegressorView& view)
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
    if (context.wants_backward()) detail::expect_slope(model_->transform, context.who());
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

void register_linear_regressor(OperatorRegistry& registry) {
  registry.add<LinearRegressor, LinearRegressorView>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// SVMRegressor: a score by support vectors, or by one hyperplane; its sign for one-class machines.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/learned_tables/post_transform.hpp"
#include "level0_ops/kernels/learned_tables/svm_kernel.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using SVMRegressorView = onnx::nodes::ml::SVMRegressor;
using Floats = std::vector<float>;

/// A hyperplane is one support vector with a linear kernel.
struct Machine {
  detail::SvmKernel kernel;
  detail::PostTransform transform;
  Floats vectors;       ///< vectors x features
  Floats coefficients;  ///< per vector
  double rho;
  bool is_one_class;
  std::int64_t features;

  explicit Machine(const SVMRegressorView& view) : Machine(view, onnx::describe(view.node())) {}

  template <class T>
  double score(const T* x) const {
    double result = rho;
    for (std::size_t v = 0; v < coefficients.size(); ++v) {
      result +=
          double(coefficients[v]) * kernel(x, vectors.data() + v * std::size_t(features), features);
    }
    if (is_one_class) return result > 0 ? 1 : -1;
    detail::transform_scores(transform, {&result, 1});
    return result;
  }

  /// Computes the gradient of a sample from that of its score `y`, in `slopes`. A sign has none.
  template <class T>
  void differentiate(const T* x, const float* y, double gradient, std::span<double> slopes) const {
    std::ranges::fill(slopes, 0);
    if (is_one_class) return;
    detail::differentiate(transform, y, {&gradient, 1});
    for (std::size_t v = 0; v < coefficients.size(); ++v) {
      kernel.add_slopes(x, vectors.data() + v * std::size_t(features), features,
                        gradient * double(coefficients[v]), slopes.data());
    }
  }

 private:
  Machine(const SVMRegressorView& view, const std::string& who)
      : kernel(view.n_supports() > 0 ? view.kernel_type() : "LINEAR", view.kernel_params(), who),
        transform(detail::post_transform(view.post_transform(), who)),
        vectors(view.support_vectors().value_or(Floats{})),
        coefficients(view.coefficients().value_or(Floats{})),
        is_one_class(view.one_class() != 0) {
    const std::int64_t count = view.n_supports();
    const Floats offsets = view.rho().value_or(Floats{});
    if (count == 0) {
      vectors = std::move(coefficients);
      coefficients = {1};
    }
    if (count < 0 || offsets.size() != 1 || vectors.empty() || coefficients.empty() ||
        vectors.size() % coefficients.size() != 0 ||
        (count > 0 && std::int64_t(coefficients.size()) != count)) {
      throw ValueError(fmt::format(
          "{}: {} support vectors of {} numbers with {} coefficients and {} rho; expected a "
          "coefficient for each vector, and one rho",
          who, count, vectors.size(), coefficients.size(), offsets.size()));
    }
    rho = double(offsets[0]);
    features = std::int64_t(vectors.size() / coefficients.size());
  }
};

template <class T>
class SvmRegressorKernel final : public Kernel {
 public:
  SvmRegressorKernel(std::int64_t rows, std::shared_ptr<const Machine> machine)
      : rows_(rows), machine_(std::move(machine)) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    float* y = context.output(0).data<float>();
    for_each_row(
        [&](std::int64_t r) { y[r] = float(machine_->score(x + r * machine_->features)); });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const std::int64_t features = machine_->features;
      const T* x = context.input(0).data<T>();
      const float* y = context.output(0).data<float>();
      const float* dy = context.grad_output(0).data<float>();
      T* dx = context.grad_input(0).data<T>();
      for_each_row([&](std::int64_t r) {
        const std::span slopes(context.scratch_as<double>() + r * features, std::size_t(features));
        machine_->differentiate(x + r * features, y + r, double(dy[r]), slopes);
        std::ranges::transform(slopes, dx + r * features, [](double s) { return T(s); });
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {0}};
  }

 private:
  template <class F>
  void for_each_row(const F& f) const {
    detail::parallel_for_each(rows_, std::int64_t(machine_->vectors.size()), 16384, f);
  }

  std::int64_t rows_;
  std::shared_ptr<const Machine> machine_;
};

/// Shapes: X is N x F, Y is N x 1.
class SVMRegressor final : public Operator {
 public:
  explicit SVMRegressor(const SVMRegressorView& view)
      : machine_(std::make_shared<const Machine>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    if (features != machine_->features) {
      throw ShapeError(fmt::format("{}: X is {}, expected {} features", context.who(),
                                   to_string(context.shape(0)), machine_->features));
    }
    return {TensorDesc{DType::float32, Shape{rows, 1}}};
  }

  Places gradients() const override { return {0}; }

  Cost cost(const InferContext& context) const override {
    return with_flop(
        context, 2 * double(detail::feature_rows(context).rows) * double(machine_->vectors.size()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    if (context.wants_backward()) {
      detail::expect_slope(machine_->transform, context.who());
      context.request_scratch(std::size_t(rows * features) * sizeof(double));
    }
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<SvmRegressorKernel<T>>(rows, machine_); });
  }

 private:
  std::shared_ptr<const Machine> machine_;
};

}  // namespace

void register_svm_regressor(OperatorRegistry& registry) {
  registry.add<SVMRegressor, SVMRegressorView>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// SVMRegressor: one score by support vectors, or by one plane; of one-class machines, its sign.
#include <fmt/format.h>

#include <memory>
#include <span>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/feature_rows.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/kernels/post_transform.hpp"
#include "level0_ops/kernels/svm_kernel.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::ml::SVMRegressor;
using Floats = std::vector<float>;

/// A plane is one support vector with a linear kernel.
struct Machine {
  detail::SvmKernel kernel;
  detail::PostTransform transform;
  Floats vectors;       ///< vectors x features
  Floats coefficients;  ///< of each vector
  double rho;
  bool is_one_class;
  std::int64_t features;

  explicit Machine(const View& view) : Machine(view, onnx::describe(view.node())) {}

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

 private:
  Machine(const View& view, const std::string& who)
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

/// Shapes: X is N x F, Y is N x 1.
class SVMRegressor final : public Operator {
 public:
  explicit SVMRegressor(const View& view) : machine_(std::make_shared<const Machine>(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const auto [rows, features] = detail::feature_rows(context);
    if (features != machine_->features) {
      throw ShapeError(fmt::format("{}: X is {}, expected {} features", context.who(),
                                   to_string(context.shape(0)), machine_->features));
    }
    return {TensorDesc{DType::float32, Shape{rows, 1}}};
  }

  Cost cost(const InferContext& context) const override {
    return with_flop(
        context, 2 * double(detail::feature_rows(context).rows) * double(machine_->vectors.size()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const std::int64_t rows = detail::feature_rows(context).rows;
    return kernel_for(detail::FeatureTypes{}, context.dtype(0), context, [&]<class T>() {
      return detail::forward_kernel([rows, machine = machine_](OpContext& run) {
        const T* x = run.input(0).data<T>();
        float* y = run.output(0).data<float>();
        const auto work = std::int64_t(machine->vectors.size());
        detail::parallel_for_each(rows, work, 16384, [&](std::int64_t r) {
          y[r] = float(machine->score(x + r * machine->features));
        });
      });
    });
  }

 private:
  std::shared_ptr<const Machine> machine_;
};

}  // namespace

void register_svm_regressor(OperatorRegistry& registry) { registry.add<SVMRegressor, View>(); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml on rows of features. Results are float32, computed in float64.
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/max.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "constant_list.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace ml = onnx::nodes::ml;
using Floats = std::vector<float>;

/// A list attribute as a tensor of x's type, on x's device.
template <class T>
at::Tensor beside(const at::Tensor& x, const std::vector<T>& list) {
  return constant_list(at::ArrayRef<T>(list)).to(x.options());
}

class ArrayFeatureExtractor final : public TorchKernel {
 public:
  using TorchKernel::TorchKernel;
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = inputs[0].dim() == 1 ? inputs[0].unsqueeze(0) : inputs[0];
    results[0] = at::index_select(x, -1, inputs[1].reshape({-1}));
  }
};

class Binarizer final : public TorchKernel {
 public:
  explicit Binarizer(const PlanContext& context)
      : TorchKernel(context), threshold_(double(ml::Binarizer(node()).threshold())) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = (inputs[0] > threshold_).to(inputs[0].scalar_type());
  }

 private:
  double threshold_;
};

class FeatureVectorizer final : public TorchKernel {
 public:
  explicit FeatureVectorizer(const PlanContext& context)
      : TorchKernel(context), taken_(ml::FeatureVectorizer(node()).inputdimensions()) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    std::vector<at::Tensor> columns;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const at::Tensor& x = inputs[i];
      const at::Tensor rows = x.dim() < 2 ? x.reshape({1, -1}) : x.flatten(1);
      const std::int64_t given = rows.size(1), taken = taken_ ? (*taken_)[i] : given;
      columns.push_back(at::constant_pad_nd(rows, {0, taken - given}).to(at::kFloat));
    }
    results[0] = at::cat(columns, 1);
  }

 private:
  std::optional<std::vector<std::int64_t>> taken_;
};

class Imputer final : public TorchKernel {
 public:
  explicit Imputer(const PlanContext& context) : TorchKernel(context), view_(node()) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    const bool is_real = at::isFloatingType(x.scalar_type());
    const float replaced = view_.replaced_value_float();
    const at::Tensor missing = !is_real               ? x == view_.replaced_value_int64()
                               : std::isnan(replaced) ? at::isnan(x)
                                                      : x == double(replaced);
    results[0] = at::where(missing,
                           is_real ? beside(x, *view_.imputed_value_floats())
                                   : beside(x, *view_.imputed_value_int64s()),
                           x)
                     .reshape(x.sizes());  // a list of one makes a scalar a list
  }

 private:
  ml::Imputer view_;
};

class Normalizer final : public TorchKernel {
 public:
  explicit Normalizer(const PlanContext& context)
      : TorchKernel(context), norm_(ml::Normalizer(node()).norm()) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = inputs[0].to(at::kDouble);
    results[0] = (x.numel() == 0 ? x : x / divisor(x)).to(at::kFloat);
  }

 private:
  /// 1 for a row with norm 0, which the standard leaves unchanged.
  [[nodiscard]] at::Tensor divisor(const at::Tensor& x) const {
    const at::Tensor norm = norm_ == "MAX"
                                ? std::get<0>(at::max(x, -1, true))
                                : at::linalg_vector_norm(x, norm_ == "L1" ? 1 : 2, {-1}, true);
    return at::where(norm == 0, 1, norm);
  }
  std::string norm_;
};

class Scaler final : public TorchKernel {
 public:
  explicit Scaler(const PlanContext& context)
      : TorchKernel(context),
        offset_(ml::Scaler(node()).offset().value_or(Floats{})),
        scale_(ml::Scaler(node()).scale().value_or(Floats{})) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor y = inputs[0].to(at::kDouble);
    if (!offset_.empty()) y = y - beside(y, offset_);
    if (!scale_.empty()) y = y * beside(y, scale_);
    results[0] = y.to(at::kFloat).reshape(inputs[0].sizes());  // as above
  }

 private:
  Floats offset_, scale_;
};

class LinearRegressor final : public TorchKernel {
 public:
  explicit LinearRegressor(const PlanContext& context)
      : TorchKernel(context),
        targets_(ml::LinearRegressor(node()).targets()),
        coefficients_(ml::LinearRegressor(node()).coefficients().value_or(Floats{})),
        intercepts_(ml::LinearRegressor(node()).intercepts().value_or(Floats{})) {}
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = inputs[0].to(at::kDouble);
    const at::Tensor weight = beside(x, coefficients_).reshape({targets_, -1});
    at::Tensor y = at::linear(x.dim() == 1 ? x.unsqueeze(0) : x, weight);
    if (!intercepts_.empty()) y = y + beside(y, intercepts_);
    results[0] = y.to(at::kFloat);
  }

 private:
  std::int64_t targets_;
  Floats coefficients_, intercepts_;
};

Support scores_alone(const PlanContext& context) {
  const std::string transform = ml::LinearRegressor(context.node()).post_transform();
  if (transform != "NONE") return {"LinearRegressor with post_transform " + transform};
  return computes(context);
}

}  // namespace

void register_features(OperatorRegistry& registry) {
  add<ArrayFeatureExtractor, ml::ArrayFeatureExtractor>(registry, stores);
  add<Binarizer, ml::Binarizer>(registry, computes);
  add<FeatureVectorizer, ml::FeatureVectorizer>(registry, computes);
  add<Imputer, ml::Imputer>(registry, computes);
  add<Normalizer, ml::Normalizer>(registry, computes);
  add<Scaler, ml::Scaler>(registry, computes);
  add<LinearRegressor, ml::LinearRegressor>(registry, scores_alone);
}

}  // namespace d5::torch

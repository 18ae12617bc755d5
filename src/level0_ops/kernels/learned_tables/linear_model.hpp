// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/level0_ops/operator/infer_context.hpp"
#include "level0_ops/kernels/learned_tables/post_transform.hpp"

namespace d5::detail {

/// Score k of a sample is coefficients[k] . sample + intercepts[k].
struct LinearModel {
  std::vector<float> coefficients;  // scores x features
  std::vector<float> intercepts;    // empty: 0
  PostTransform transform;

  template <class View>
  explicit LinearModel(const View& view)
      : intercepts(view.intercepts().value_or(std::vector<float>{})),
        transform(post_transform(view.post_transform(), onnx::describe(view.node()))) {
    if (const auto* given = view.node().template attribute<std::vector<float>>("coefficients")) {
      coefficients = *given;
    }
  }

  /// Throws: ShapeError, ValueError unless there is one coefficient per feature and score.
  void check(const InferContext& context, std::int64_t scores) const;

  template <class T>
  void evaluate(const T* sample, std::int64_t features, std::span<double> scores) const {
    const float* weight = coefficients.data();
    for (std::size_t k = 0; k < scores.size(); ++k) {
      double sum = intercepts.empty() ? 0 : double(intercepts[k]);
      for (std::int64_t f = 0; f < features; ++f) sum += double(sample[f]) * double(*weight++);
      scores[k] = sum;
    }
  }

  /// Computes the gradient of a sample from that of its scores.
  template <class T>
  void differentiate(std::span<const double> gradients, std::int64_t features, T* sample) const {
    for (std::int64_t f = 0; f < features; ++f) {
      double sum = 0;
      for (std::size_t k = 0; k < gradients.size(); ++k) {
        sum += gradients[k] * double(coefficients[k * std::size_t(features) + std::size_t(f)]);
      }
      sample[f] = T(sum);
    }
  }
};

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/dtype.hpp"

namespace d5::detail {

/// Kernel function of a support vector machine.
/// Source: Chang and Lin, "LIBSVM: a library for support vector machines" (2011).
class SvmKernel {
 public:
  /// `parameters` are gamma, coef0 and degree, or nothing if the kernel needs none.
  /// Throws: ValueError.
  SvmKernel(const std::string& type, const std::optional<std::vector<float>>& parameters,
            std::string_view who);

  template <class T>
  [[nodiscard]] double operator()(const T* x, const float* v, std::int64_t features) const {
    if (type_ == Type::rbf) {
      double distance = 0;
      for (std::int64_t f = 0; f < features; ++f) {
        const double difference = double(x[f]) - double(v[f]);
        distance += difference * difference;
      }
      return std::exp(-gamma_ * distance);
    }
    const double product = dot(x, v, features);
    switch (type_) {
      case Type::poly:
        return std::pow(gamma_ * product + coef0_, degree_);
      case Type::sigmoid:
        return std::tanh(gamma_ * product + coef0_);
      default:
        return product;
    }
  }

  /// Adds `weight` times the slopes for x to `slopes`.
  template <class T>
  void add_slopes(const T* x, const float* v, std::int64_t features, double weight,
                  double* slopes) const {
    if (type_ == Type::rbf) {
      const double factor = -2 * gamma_ * weight * (*this)(x, v, features);
      for (std::int64_t f = 0; f < features; ++f)
        slopes[f] += factor * (double(x[f]) - double(v[f]));
      return;
    }
    const double factor = weight * slope(gamma_ * dot(x, v, features) + coef0_);
    for (std::int64_t f = 0; f < features; ++f) slopes[f] += factor * double(v[f]);
  }

 private:
  enum class Type { linear, poly, rbf, sigmoid };

  template <class T>
  static double dot(const T* x, const float* v, std::int64_t features) {
    double product = 0;
    for (std::int64_t f = 0; f < features; ++f) product += double(x[f]) * double(v[f]);
    return product;
  }
  /// The slope along x . v, for kernels that are functions of `line` = gamma x . v + coef0.
  [[nodiscard]] double slope(double line) const {
    switch (type_) {
      case Type::poly:
        return gamma_ * degree_ * std::pow(line, degree_ - 1);
      case Type::sigmoid: {
        const double y = std::tanh(line);
        return gamma_ * (1 - y * y);
      }
      default:
        return 1;
    }
  }

  Type type_;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

}  // namespace d5::detail

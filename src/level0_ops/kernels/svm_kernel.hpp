// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/dtype.hpp"

namespace d5::detail {

/// What a support vector machine takes for the product of a sample and a support vector.
/// Source: Chang and Lin, "LIBSVM: a library for support vector machines" (2011).
class SvmKernel {
 public:
  /// `parameters` are gamma, coef0 and degree, or nothing where the kernel needs none.
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
    double product = 0;
    for (std::int64_t f = 0; f < features; ++f) product += double(x[f]) * double(v[f]);
    switch (type_) {
      case Type::poly:
        return std::pow(gamma_ * product + coef0_, degree_);
      case Type::sigmoid:
        return std::tanh(gamma_ * product + coef0_);
      default:
        return product;
    }
  }

 private:
  enum class Type { linear, poly, rbf, sigmoid };
  Type type_;
  double gamma_ = 0, coef0_ = 0, degree_ = 0;
};

}  // namespace d5::detail

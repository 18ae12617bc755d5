// SPDX-License-Identifier: Apache-2.0
// Gelu: x times the standard normal distribution function of x.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

using GeluView = onnx::nodes::Gelu;

/// y = x (1 + erf(x / sqrt(2))) / 2, or with tanh(sqrt(2 / pi) (x + 0.044715 x^3)) for the erf.
/// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016).
struct Gelu {
  explicit Gelu(const GeluView& view) : by_tanh(view.approximate() == "tanh") {
    if (by_tanh || view.approximate() == "none") return;
    throw ValueError(fmt::format("{}: approximate is '{}', expected none or tanh",
                                 onnx::describe(view.node()), printable(view.approximate())));
  }

  template <class T>
  T value(T x) const {
    return x * (by_tanh ? T(0.5) * (1 + std::tanh(argument(x))) : probability(x));
  }
  template <class T>
  T slope(T x) const {
    if (by_tanh) {
      const T t = std::tanh(argument(x));
      const T argument_slope = kScale<T> * (1 + 3 * kCubic<T> * x * x);
      return T(0.5) * (1 + t + x * (1 - t * t) * argument_slope);
    }
    constexpr T kInverseRootTwoPi = std::numbers::inv_sqrtpi_v<T> / std::numbers::sqrt2_v<T>;
    return probability(x) + x * kInverseRootTwoPi * std::exp(-x * x / 2);
  }

  bool by_tanh;

 private:
  template <class T>
  static constexpr T kScale = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  template <class T>
  static constexpr T kCubic = T(0.044715);

  template <class T>
  static T argument(T x) {
    return kScale<T> * (x + kCubic<T> * x * x * x);
  }
  template <class T>
  static T probability(T x) {
    return T(0.5) * (1 + std::erf(x / std::numbers::sqrt2_v<T>));
  }
};

}  // namespace

void register_gelu(OperatorRegistry& registry) { detail::add_unary<Gelu, GeluView>(registry); }

}  // namespace d5::ops

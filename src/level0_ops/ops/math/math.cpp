// SPDX-License-Identifier: Apache-2.0
// Elementwise functions Abs, Neg, Exp, Sin, ... and their slopes.
#include <cmath>
#include <cstdint>
#include <numbers>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

using detail::add_unary;
namespace nodes = onnx::nodes;

struct Abs {
  using Types = NumberTypes;
  template <class T>
  T value(T x) const {
    if constexpr (std::floating_point<T>) return std::fabs(x);
    return x < T(0) ? T(0 - std::uint64_t(x)) : x;
  }
  template <class T>
  T slope(T x) const {
    return T((x > 0) - (x < 0));
  }
};
struct Neg {
  using Types = Join<FloatTypes, SignedTypes>;
  template <class T>
  T value(T x) const {
    if constexpr (std::floating_point<T>) return -x;
    return T(0 - std::uint64_t(x));
  }
  template <class T>
  T slope_at(T) const {
    return -1;
  }
};
struct Sign {
  using Types = NumberTypes;
  template <class T>
  T value(T x) const {
    if constexpr (std::floating_point<T>) {
      if (std::isnan(x)) return x;
    }
    return T((x > T(0)) - (x < T(0)));
  }
  template <class T>
  T slope_at(T) const {
    return 0;
  }
};

/// Truncated towards zero for integers.
struct Erf {
  using Types = NumberTypes;
  template <class T>
  T value(T x) const {
    return T(std::erf(x));
  }
  template <class T>
  T slope(T x) const {
    return T(2 * std::numbers::inv_sqrtpi) * std::exp(-x * x);
  }
};

/// A function without attributes, and its slope in x.
template <class Value, class Slope>
struct SlopeInX {
  template <class T>
  T value(T x) const {
    return Value()(x);
  }
  template <class T>
  T slope(T x) const {
    return Slope()(x);
  }
};
/// A function without attributes, and its slope in y.
template <class Value, class Slope>
struct SlopeInY {
  template <class T>
  T value(T x) const {
    return Value()(x);
  }
  template <class T>
  T slope_at(T y) const {
    return Slope()(y);
  }
};

template <class View, class Value, class Slope>
void in_x(OperatorRegistry& registry, Value, Slope) {
  add_unary<SlopeInX<Value, Slope>, View>(registry);
}
template <class View, class Value, class Slope>
void in_y(OperatorRegistry& registry, Value, Slope) {
  add_unary<SlopeInY<Value, Slope>, View>(registry);
}

}  // namespace

void register_math(OperatorRegistry& registry) {
  OperatorRegistry& r = registry;
  add_unary<Abs, nodes::Abs>(r);
  add_unary<Neg, nodes::Neg>(r);
  add_unary<Sign, nodes::Sign>(r);
  add_unary<Erf, nodes::Erf>(r);

  using std::sqrt;
  const auto flat = []<class T>(T) { return T(0); };
  in_y<nodes::Ceil>(r, [](auto x) { return std::ceil(x); }, flat);
  in_y<nodes::Floor>(r, [](auto x) { return std::floor(x); }, flat);
  in_y<nodes::Round>(r, [](auto x) { return std::nearbyint(x); }, flat);  // ties to even
  in_y<nodes::Sqrt>(r, [](auto x) { return sqrt(x); }, []<class T>(T y) { return T(0.5) / y; });
  in_y<nodes::Reciprocal>(r, [](auto x) { return 1 / x; }, [](auto y) { return -y * y; });
  in_y<nodes::Exp>(r, [](auto x) { return std::exp(x); }, [](auto y) { return y; });
  in_x<nodes::Log>(r, [](auto x) { return std::log(x); }, [](auto x) { return 1 / x; });
  in_x<nodes::Sin>(r, [](auto x) { return std::sin(x); }, [](auto x) { return std::cos(x); });
  in_x<nodes::Cos>(r, [](auto x) { return std::cos(x); }, [](auto x) { return -std::sin(x); });
  in_y<nodes::Tan>(r, [](auto x) { return std::tan(x); }, [](auto y) { return 1 + y * y; });
  in_x<nodes::Asin>(
      r, [](auto x) { return std::asin(x); }, [](auto x) { return 1 / sqrt(1 - x * x); });
  in_x<nodes::Acos>(
      r, [](auto x) { return std::acos(x); }, [](auto x) { return -1 / sqrt(1 - x * x); });
  in_x<nodes::Atan>(r, [](auto x) { return std::atan(x); }, [](auto x) { return 1 / (1 + x * x); });
  in_x<nodes::Sinh>(r, [](auto x) { return std::sinh(x); }, [](auto x) { return std::cosh(x); });
  in_x<nodes::Cosh>(r, [](auto x) { return std::cosh(x); }, [](auto x) { return std::sinh(x); });
  in_x<nodes::Asinh>(
      r, [](auto x) { return std::asinh(x); }, [](auto x) { return 1 / sqrt(x * x + 1); });
  in_x<nodes::Acosh>(
      r, [](auto x) { return std::acosh(x); }, [](auto x) { return 1 / sqrt(x * x - 1); });
  in_x<nodes::Atanh>(
      r, [](auto x) { return std::atanh(x); }, [](auto x) { return 1 / (1 - x * x); });
}

}  // namespace d5::ops

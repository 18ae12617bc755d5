// SPDX-License-Identifier: Apache-2.0
// Elementwise activations and their slopes.
#include <cmath>

#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/swish.hpp"
#include "level0_ops/kernels/elementwise/unary.hpp"

namespace d5::ops {
namespace {

using detail::add_unary;
using detail::sigmoid;
namespace nodes = onnx::nodes;

/// y = max(x, 0); propagates NaN
struct Relu {
  using Types = Join<FloatTypes, SignedTypes>;
  template <class T>
  T value(T x) const {
    return x < 0 ? T(0) : x;
  }
  template <class T>
  T slope_at(T y) const {
    return y > 0 ? T(1) : T(0);
  }
};

/// y = 1 / (1 + exp(-x))
struct Sigmoid {
  template <class T>
  T value(T x) const {
    return sigmoid(x);
  }
  template <class T>
  T slope_at(T y) const {
    return y * (T(1) - y);
  }
};

struct Tanh {
  template <class T>
  T value(T x) const {
    return std::tanh(x);
  }
  template <class T>
  T slope_at(T y) const {
    return T(1) - y * y;
  }
};

/// y = x, or alpha x below zero; at zero its slope is that below.
struct LeakyRelu {
  explicit LeakyRelu(const nodes::LeakyRelu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x < 0 ? T(alpha) * x : x;
  }
  template <class T>
  T slope(T x) const {
    return x > 0 ? T(1) : T(alpha);
  }
  float alpha;
};

/// y = x if above alpha, 0 otherwise
struct ThresholdedRelu {
  explicit ThresholdedRelu(const nodes::ThresholdedRelu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x > T(alpha) ? x : T(0);
  }
  template <class T>
  T slope(T x) const {
    return x > T(alpha) ? T(1) : T(0);
  }
  float alpha;
};

/// y = x, or alpha (exp(x) - 1) below zero; at zero its slope is that below.
struct Elu {
  explicit Elu(const nodes::Elu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x < 0 ? T(alpha) * std::expm1(x) : x;
  }
  template <class T>
  T slope(T x) const {
    return x <= 0 ? T(alpha) * std::exp(x) : T(1);
  }
  float alpha;
};

/// y = max(x, 0) + min(alpha (exp(x / alpha) - 1), 0)
struct Celu {
  explicit Celu(const nodes::Celu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x < 0 ? T(alpha) * std::expm1(x / T(alpha)) : x;
  }
  template <class T>
  T slope(T x) const {
    return x < 0 ? std::exp(x / T(alpha)) : T(1);
  }
  float alpha;
};

/// y = gamma x, or gamma alpha (exp(x) - 1) below zero
struct Selu {
  explicit Selu(const nodes::Selu& view) : alpha(view.alpha()), gamma(view.gamma()) {}
  template <class T>
  T value(T x) const {
    return T(gamma) * (x <= 0 ? T(alpha) * std::expm1(x) : x);
  }
  template <class T>
  T slope(T x) const {
    return T(gamma) * (x <= 0 ? T(alpha) * std::exp(x) : T(1));
  }
  float alpha, gamma;
};

/// y = log(1 + exp(x))
template <class T>
T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}
struct Softplus {
  template <class T>
  T value(T x) const {
    return softplus(x);
  }
  template <class T>
  T slope(T x) const {
    return sigmoid(x);
  }
};

/// y = x / (1 + |x|)
struct Softsign {
  template <class T>
  T value(T x) const {
    return x / (T(1) + std::abs(x));
  }
  template <class T>
  T slope(T x) const {
    const T root = T(1) + std::abs(x);
    return T(1) / (root * root);
  }
};

/// y = alpha x + beta, clipped to [0, 1]
struct HardSigmoid {
  explicit HardSigmoid(const nodes::HardSigmoid& view) : alpha(view.alpha()), beta(view.beta()) {}
  template <class T>
  T value(T x) const {
    return std::max(std::min(T(alpha) * x + T(beta), T(1)), T(0));  // this order propagates NaN
  }
  template <class T>
  T slope(T x) const {
    const T y = T(alpha) * x + T(beta);
    return y > 0 && y < 1 ? T(alpha) : T(0);
  }
  float alpha, beta;
};

/// y = x max(0, min(1, x / 6 + 1/2))
struct HardSwish {
  template <class T>
  T value(T x) const {
    return x * std::max(T(0), std::min(T(1), x / T(6) + T(0.5)));
  }
  template <class T>
  T slope(T x) const {
    if (x <= T(-3)) return T(0);
    return x >= T(3) ? T(1) : x / T(3) + T(0.5);
  }
};

/// y = x sigmoid(alpha x)
struct Swish {
  explicit Swish(const nodes::Swish& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return detail::swish(x, T(alpha));
  }
  template <class T>
  T slope(T x) const {
    return detail::swish_slope(x, T(alpha));
  }
  float alpha;
};

/// y = x tanh(softplus(x))
struct Mish {
  template <class T>
  T value(T x) const {
    return x * std::tanh(softplus(x));
  }
  template <class T>
  T slope(T x) const {
    const T t = std::tanh(softplus(x));
    return t + x * (T(1) - t * t) * sigmoid(x);
  }
};

}  // namespace

void register_activation(OperatorRegistry& registry) {
  add_unary<Relu, nodes::Relu>(registry);
  add_unary<Sigmoid, nodes::Sigmoid>(registry);
  add_unary<Tanh, nodes::Tanh>(registry);
  add_unary<LeakyRelu, nodes::LeakyRelu>(registry);
  add_unary<ThresholdedRelu, nodes::ThresholdedRelu>(registry);
  add_unary<Elu, nodes::Elu>(registry);
  add_unary<Celu, nodes::Celu>(registry);
  add_unary<Selu, nodes::Selu>(registry);
  add_unary<Softplus, nodes::Softplus>(registry);
  add_unary<Softsign, nodes::Softsign>(registry);
  add_unary<HardSigmoid, nodes::HardSigmoid>(registry);
  add_unary<HardSwish, nodes::HardSwish>(registry);
  add_unary<Swish, nodes::Swish>(registry);
  add_unary<Mish, nodes::Mish>(registry);
}

}  // namespace d5::ops

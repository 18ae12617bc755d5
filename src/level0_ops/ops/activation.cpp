// SPDX-License-Identifier: Apache-2.0
// Activations: one output element from one input element, with its slope there.
#include <cmath>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

// A function has `value(x)`, and its slope as `slope_at(y)` if the output alone tells it, so that
// the input need not be kept; as `slope(x)` otherwise.

/// y = max(x, 0); NaN stays
struct Relu {
  explicit Relu(const nodes::Relu&) {}
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
template <class T>
T sigmoid(T x) {
  // The exponential of a negative number does not overflow.
  if (x >= 0) return T(1) / (T(1) + std::exp(-x));
  const T e = std::exp(x);
  return e / (T(1) + e);
}
struct Sigmoid {
  explicit Sigmoid(const nodes::Sigmoid&) {}
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
  explicit Tanh(const nodes::Tanh&) {}
  template <class T>
  T value(T x) const {
    return std::tanh(x);
  }
  template <class T>
  T slope_at(T y) const {
    return T(1) - y * y;
  }
};

/// y = x, or alpha x below zero
struct LeakyRelu {
  explicit LeakyRelu(const nodes::LeakyRelu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x < 0 ? T(alpha) * x : x;
  }
  template <class T>
  T slope(T x) const {
    return x < 0 ? T(alpha) : T(1);
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

/// y = x, or alpha (exp(x) - 1) below zero
struct Elu {
  explicit Elu(const nodes::Elu& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T x) const {
    return x < 0 ? T(alpha) * std::expm1(x) : x;
  }
  template <class T>
  T slope(T x) const {
    return x < 0 ? T(alpha) * std::exp(x) : T(1);
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
  explicit Softplus(const nodes::Softplus&) {}
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
  explicit Softsign(const nodes::Softsign&) {}
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

/// y = alpha x + beta, cut to [0, 1]
struct HardSigmoid {
  explicit HardSigmoid(const nodes::HardSigmoid& view) : alpha(view.alpha()), beta(view.beta()) {}
  template <class T>
  T value(T x) const {
    return std::max(T(0), std::min(T(1), T(alpha) * x + T(beta)));
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
  explicit HardSwish(const nodes::HardSwish&) {}
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
    return x * sigmoid(T(alpha) * x);
  }
  template <class T>
  T slope(T x) const {
    const T s = sigmoid(T(alpha) * x);
    return s + T(alpha) * x * s * (T(1) - s);
  }
  float alpha;
};

/// y = x tanh(softplus(x))
struct Mish {
  explicit Mish(const nodes::Mish&) {}
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

/// Shapes: y as x, any.
template <class Function, class View>
class Activation final : public Operator {
  static constexpr bool kFromOutput = requires(const Function& f) { f.slope_at(0.0f); };

 public:
  explicit Activation(const onnx::Node& node) : function_(View(node)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(FloatTypes{}, x.dtype(), View::kName, [&]<class T>() {
      using A = Arithmetic<T>;
      const T* from = x.data<T>();
      T* to = context.output(0).data<T>();
      parallel_for(x.elements(), kGrain, [=, this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = T(function_.value(A(from[i])));
      });
    });
  }

  void backward(GradContext& context) override {
    const Tensor& gradient = context.grad_output(0);
    dispatch(RealTypes{}, gradient.dtype(), View::kName, [&]<class T>() {
      const T* at = (kFromOutput ? context.output(0) : context.input(0)).data<T>();
      const T* dy = gradient.data<T>();
      T* dx = context.grad_input(0).data<T>();
      parallel_for(gradient.elements(), kGrain, [=, this](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          if constexpr (kFromOutput) {
            dx[i] = dy[i] * function_.slope_at(at[i]);
          } else {
            dx[i] = dy[i] * function_.slope(at[i]);
          }
        }
      });
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t) const override { return !kFromOutput; }
  bool backward_needs_output(std::size_t) const override { return kFromOutput; }
  int in_place_output() const override { return 0; }

 private:
  static constexpr std::int64_t kGrain = 16384;  // below it a thread costs more than it saves
  Function function_;
};

template <class Function, class View>
void add(OperatorRegistry& registry) {
  registry.add<Activation<Function, View>>(std::string(View::kName));
}

}  // namespace

void register_activation(OperatorRegistry& registry) {
  add<Relu, nodes::Relu>(registry);
  add<Sigmoid, nodes::Sigmoid>(registry);
  add<Tanh, nodes::Tanh>(registry);
  add<LeakyRelu, nodes::LeakyRelu>(registry);
  add<ThresholdedRelu, nodes::ThresholdedRelu>(registry);
  add<Elu, nodes::Elu>(registry);
  add<Celu, nodes::Celu>(registry);
  add<Selu, nodes::Selu>(registry);
  add<Softplus, nodes::Softplus>(registry);
  add<Softsign, nodes::Softsign>(registry);
  add<HardSigmoid, nodes::HardSigmoid>(registry);
  add<HardSwish, nodes::HardSwish>(registry);
  add<Swish, nodes::Swish>(registry);
  add<Mish, nodes::Mish>(registry);
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Activations: one output element from one input element, with a slope from x and y.
#include <cmath>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace d5::ops {
namespace {

/// y = max(x, 0)
struct ReluFunction {
  template <class T>
  static T value(T x) {
    return x > 0 || std::isnan(x) ? x : T(0);
  }
  template <class T>
  static T slope(T, T y) {
    return y > 0 ? T(1) : T(0);
  }
};

/// y = 1 / (1 + exp(-x))
struct SigmoidFunction {
  template <class T>
  static T value(T x) {
    // The exponential of a negative number does not overflow.
    if (x >= 0) return T(1) / (T(1) + std::exp(-x));
    const T e = std::exp(x);
    return e / (T(1) + e);
  }
  template <class T>
  static T slope(T, T y) {
    return y * (T(1) - y);
  }
};

struct TanhFunction {
  template <class T>
  static T value(T x) {
    return std::tanh(x);
  }
  template <class T>
  static T slope(T, T y) {
    return T(1) - y * y;
  }
};

/// Shapes: y as x, any.
template <class Function>
class Activation final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch(FloatTypes{}, x.dtype(), kName, [&]<class T>() {
      using A = Arithmetic<T>;
      const T* from = x.data<T>();
      T* to = y.data<T>();
      parallel_for(x.elements(), kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) to[i] = T(Function::value(A(from[i])));
      });
    });
  }

  void backward(GradContext& context) override {
    const Tensor& y = context.output(0);
    dispatch(RealTypes{}, y.dtype(), kName, [&]<class T>() {
      const T* out = y.data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      parallel_for(y.elements(), kGrain, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] * Function::slope(T(0), out[i]);
      });
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t) const override { return false; }
  int in_place_output() const override { return 0; }

 private:
  static constexpr std::string_view kName = "activation";
  static constexpr std::int64_t kGrain = 16384;  // below it a thread costs more than it saves
};

}  // namespace

void register_activation(OperatorRegistry& registry) {
  registry.add<Activation<ReluFunction>>("Relu");
  registry.add<Activation<SigmoidFunction>>("Sigmoid");
  registry.add<Activation<TanhFunction>>("Tanh");
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Functions of one element: Abs, Neg, Exp, Sin, ... with their slopes.
#include <cmath>
#include <numbers>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"

namespace d5::ops {
namespace {

using SignedNumbers = Join<FloatTypes, SignedTypes>;

struct AbsFunction {
  using TypeList = NumberTypes;
  template <class T>
  static T value(T x) {
    if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
    return x < T(0) ? T(0 - std::uint64_t(x)) : x;
  }
  template <class T>
  static T slope(T x, T) {
    return T((x > 0) - (x < 0));
  }
};
struct NegFunction {
  using TypeList = SignedNumbers;
  template <class T>
  static T value(T x) {
    if constexpr (std::is_floating_point_v<T>) return -x;
    return T(0 - std::uint64_t(x));
  }
  template <class T>
  static T slope(T, T) {
    return -1;
  }
};
struct SignFunction {
  using TypeList = NumberTypes;
  template <class T>
  static T value(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
    }
    return T((x > T(0)) - (x < T(0)));
  }
  template <class T>
  static T slope(T, T) {
    return 0;
  }
};

/// A function of the standard library, and its slope as an expression in x and y.
#define D5_MATH_FUNCTION(NAME, VALUE, SLOPE)                     \
  struct NAME##Function {                                        \
    using TypeList = FloatTypes;                                 \
    template <class T>                                           \
    static T value(T x) {                                        \
      return VALUE;                                              \
    }                                                            \
    template <class T>                                           \
    static T slope([[maybe_unused]] T x, [[maybe_unused]] T y) { \
      return SLOPE;                                              \
    }                                                            \
  };
D5_MATH_FUNCTION(Sqrt, std::sqrt(x), T(0.5) / y)
D5_MATH_FUNCTION(Exp, std::exp(x), y)
D5_MATH_FUNCTION(Log, std::log(x), T(1) / x)
D5_MATH_FUNCTION(Reciprocal, T(1) / x, -y* y)
D5_MATH_FUNCTION(Ceil, std::ceil(x), T(0))
D5_MATH_FUNCTION(Floor, std::floor(x), T(0))
D5_MATH_FUNCTION(Round, std::nearbyint(x), T(0))  // halves to even
D5_MATH_FUNCTION(Sin, std::sin(x), std::cos(x))
D5_MATH_FUNCTION(Cos, std::cos(x), -std::sin(x))
D5_MATH_FUNCTION(Tan, std::tan(x), T(1) + y * y)
D5_MATH_FUNCTION(Asin, std::asin(x), T(1) / std::sqrt(T(1) - x * x))
D5_MATH_FUNCTION(Acos, std::acos(x), T(-1) / std::sqrt(T(1) - x * x))
D5_MATH_FUNCTION(Atan, std::atan(x), T(1) / (T(1) + x * x))
D5_MATH_FUNCTION(Sinh, std::sinh(x), std::cosh(x))
D5_MATH_FUNCTION(Cosh, std::cosh(x), std::sinh(x))
D5_MATH_FUNCTION(Asinh, std::asinh(x), T(1) / std::sqrt(x * x + T(1)))
D5_MATH_FUNCTION(Acosh, std::acosh(x), T(1) / std::sqrt(x * x - T(1)))
D5_MATH_FUNCTION(Atanh, std::atanh(x), T(1) / (T(1) - x * x))
D5_MATH_FUNCTION(Erf, std::erf(x), T(2 * std::numbers::inv_sqrtpi) * std::exp(-x * x))
#undef D5_MATH_FUNCTION

/// Shapes: y as x, any.
template <class Function>
class MathOperator final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch(typename Function::TypeList{}, x.dtype(), context.node().op_type, [&]<class T>() {
      const T* from = x.data<T>();
      T* to = y.data<T>();
      const auto piece = [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          to[i] = T(Function::value(Arithmetic<T>(from[i])));
        }
      };
      parallel_for(x.elements(), kGrain, std::ref(piece));
    });
  }

  void backward(GradContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(RealTypes{}, x.dtype(), context.node().op_type, [&]<class T>() {
      const T *in = x.data<T>(), *out = context.output(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const auto piece = [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] * Function::slope(in[i], out[i]);
      };
      parallel_for(x.elements(), kGrain, std::ref(piece));
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  int in_place_output() const override { return 0; }

 private:
  static constexpr std::int64_t kGrain = 8192;  // below it a thread costs more than it saves
};

}  // namespace

void register_math(OperatorRegistry& registry) {
  registry.add<MathOperator<AbsFunction>>("Abs");
  registry.add<MathOperator<NegFunction>>("Neg");
  registry.add<MathOperator<SignFunction>>("Sign", {.since = 9});
  registry.add<MathOperator<SqrtFunction>>("Sqrt");
  registry.add<MathOperator<ExpFunction>>("Exp");
  registry.add<MathOperator<LogFunction>>("Log");
  registry.add<MathOperator<ReciprocalFunction>>("Reciprocal");
  registry.add<MathOperator<CeilFunction>>("Ceil");
  registry.add<MathOperator<FloorFunction>>("Floor");
  registry.add<MathOperator<RoundFunction>>("Round", {.since = 11});
  registry.add<MathOperator<SinFunction>>("Sin", {.since = 7});
  registry.add<MathOperator<CosFunction>>("Cos", {.since = 7});
  registry.add<MathOperator<TanFunction>>("Tan", {.since = 7});
  registry.add<MathOperator<AsinFunction>>("Asin", {.since = 7});
  registry.add<MathOperator<AcosFunction>>("Acos", {.since = 7});
  registry.add<MathOperator<AtanFunction>>("Atan", {.since = 7});
  registry.add<MathOperator<SinhFunction>>("Sinh", {.since = 9});
  registry.add<MathOperator<CoshFunction>>("Cosh", {.since = 9});
  registry.add<MathOperator<AsinhFunction>>("Asinh", {.since = 9});
  registry.add<MathOperator<AcoshFunction>>("Acosh", {.since = 9});
  registry.add<MathOperator<AtanhFunction>>("Atanh", {.since = 9});
  registry.add<MathOperator<ErfFunction>>("Erf", {.since = 9});
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Pow: x to the power of y, which may be of another type.
#include <cmath>
#include <concepts>

#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

using BaseTypes = Join<FloatTypes, Types<std::int32_t, std::int64_t>>;

/// By squaring; wraps around as integers do. A negative power of an integer is 0, or 1 of 1.
template <std::integral T>
T integer_power(T base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? T(exponent % 2 ? -1 : 1) : T(0);
  std::uint64_t result = 1, factor = std::uint64_t(base);
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) result *= factor;
    factor *= factor;
  }
  return T(result);
}

template <class T>
T power(T base, double exponent) {
  if constexpr (std::integral<T>) {
    if (exponent == std::rint(exponent) && std::fabs(exponent) < 0x1p62) {
      return integer_power(base, std::int64_t(exponent));
    }
    return T(std::pow(double(base), exponent));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::pow(base, exponent);
  } else {
    return T(std::pow(float(base), float(exponent)));
  }
}

/// Shapes: x and y are broadcast to z, which has the type of x.
class Pow final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), detail::infer_binary_shape(context)}};
  }

  /// Room for the exponents as float64: one loop for all their types.
  void plan(PlanContext& context) override {
    context.request_scratch(std::size_t(context.shape(1).elements()) * sizeof(double));
  }

  void forward(OpContext& context) override {
    const Tensor &x = context.input(0), &y = context.input(1);
    Tensor& z = context.output(0);
    const auto loop = detail::binary_loop(context.node(), z.shape(), x.shape(), y.shape());
    const double* exponents = read_exponents(y, context.scratch_as<double>());
    dispatch(BaseTypes{}, z.dtype(), "Pow", [&]<class T>() {
      detail::apply_binary(loop, z.data<T>(), x.data<T>(), exponents,
                           [](T base, double exponent) { return power(base, exponent); });
    });
  }

  void backward(GradContext& context) override {
    const Tensor &x = context.input(0), &y = context.input(1), &dz = context.grad_output(0);
    const Shape second = detail::second_operand_shape(context.node(), x.shape(), y.shape());
    const double* exponents = read_exponents(y, context.scratch_as<double>());
    const auto accumulate = [&]<class T, class Slope>(Tensor& grad, const Shape& shape,
                                                      const T* base, Slope slope) {
      const auto loop = detail::broadcast_loop(dz.shape(), {&shape, &x.shape(), &second});
      detail::accumulate_gradient<T>(loop, grad, dz, base, exponents, slope);
    };
    dispatch(RealTypes{}, dz.dtype(), "Pow", [&]<class T>() {
      if (context.wants_grad(0)) {
        accumulate(context.grad_input(0), x.shape(), x.data<T>(),
                   [](const T* base, const double* e) {
                     return *e == 0 ? T(0) : T(*e * std::pow(double(*base), *e - 1));
                   });
      }
      if (context.wants_grad(1)) {
        // 0^y stays 0 near a positive y.
        accumulate(context.grad_input(1), second, x.data<T>(), [](const T* base, const double* e) {
          if (*base == 0 && *e >= 0) return T(0);
          return T(std::pow(double(*base), *e) * std::log(double(*base)));
        });
      }
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_output(std::size_t) const override { return false; }
  int in_place_output() const override { return 0; }

 private:
  static const double* read_exponents(const Tensor& y, double* to) {
    dispatch(NumberTypes{}, y.dtype(), "Pow", [&]<class T>() {
      const T* from = y.data<T>();
      for (std::int64_t i = 0; i < y.elements(); ++i) to[i] = double(Arithmetic<T>(from[i]));
    });
    return to;
  }
};

}  // namespace

void register_pow(OperatorRegistry& registry) { registry.add<Pow>("Pow"); }

}  // namespace d5::ops

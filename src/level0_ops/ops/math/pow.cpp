// SPDX-License-Identifier: Apache-2.0
// Pow: x to the power of y, which may be of another type.
#include <cmath>
#include <concepts>
#include <optional>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/broadcast.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using BaseTypes = Join<FloatTypes, Types<std::int32_t, std::int64_t>>;

/// Power by squaring, with wrap-around. A negative power of an integer is 0, or 1 for base 1.
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

template <class T>
class PowKernel final : public Kernel {
 public:
  explicit PowKernel(PlanContext& context)
      : PowKernel(context, detail::second_operand_shape(context)) {}

  void forward(OpContext& context) override {
    const double* exponents = read_exponents(context);
    detail::apply_binary(loop_, context.output(0).data<T>(), context.input(0).data<T>(), exponents,
                         [](T base, double exponent) { return power(base, exponent); });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = context.input(0).data<T>();
      const double* y = read_exponents(context);
      const T* dz = context.grad_output(0).data<T>();
      if (context.wants_grad(0)) {
        to_x_->run(context.grad_input(0).data<T>(), dz, [=](auto i, auto j) {
          return y[j] == 0 ? T(0) : T(y[j] * std::pow(double(x[i]), y[j] - 1));
        });
      }
      if (context.wants_grad(1)) {
        // 0^y is constantly 0 near a positive y.
        to_y_->run(context.grad_input(1).data<T>(), dz, [=](auto i, auto j) {
          if (x[i] == 0 && y[j] >= 0) return T(0);
          return T(std::pow(double(x[i]), y[j]) * std::log(double(x[i])));
        });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_outputs = {}, .in_place_output = 0};
  }

 private:
  PowKernel(PlanContext& context, const Shape& y)
      : loop_(detail::broadcast_loop(context.output(0).shape, {&context.shape(0), &y})),
        exponents_(y.elements()),
        to_double_(context.dtype(1), DType::float64) {
    context.request_scratch(std::size_t(exponents_) * sizeof(double));
    const Shape &z = context.output(0).shape, &x = context.shape(0);
    if (context.wants_grad(0)) to_x_.emplace(z, x, x, y);
    if (context.wants_grad(1)) to_y_.emplace(z, y, x, y);
  }

  /// Exponents as float64: one loop for all their types.
  template <class Context>
  const double* read_exponents(const Context& context) const {
    double* to = context.template scratch_as<double>();
    to_double_.run(to, context.input(1).raw(), exponents_);
    return to;
  }

  detail::StridedLoop loop_;
  std::int64_t exponents_;
  detail::Conversion to_double_;
  std::optional<detail::GradientSum> to_x_, to_y_;
};

/// Shapes: x and y are broadcast to z, which has the type of x.
class Pow final : public ElementwiseOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), detail::infer_binary_shape(context)}};
  }

  Places gradients() const override { return {0, 1}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    detail::expect_type(NumberTypes{}, context.dtype(1), context, "exponent");
    return kernel_for(BaseTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<PowKernel<T>>(context); });
  }
};

}  // namespace

void register_pow(OperatorRegistry& registry) { registry.add<Pow, onnx::nodes::Pow>(); }

}  // namespace d5::ops

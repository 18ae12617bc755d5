// SPDX-License-Identifier: Apache-2.0
// LpNormalization: divides each line along an axis by its p-norm.
#include <fmt/format.h>

#include <cmath>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/lines.hpp"

namespace d5::ops {
namespace {

using detail::Line;
using detail::Lines;

template <class T>
class LpNormalizationKernel final : public Kernel {
 public:
  LpNormalizationKernel(const Lines& lines, std::int64_t p) : lines_(lines), p_(p) {}

  void forward(OpContext& context) override {
    const T* from = context.input(0).data<T>();
    T* to = context.output(0).data<T>();
    lines_.for_each([&](std::int64_t first) {
      const auto x = lines_.line(from + first);
      const auto y = lines_.line(to + first);
      const double length = norm(x);
      for (std::int64_t i = 0; i < x.count; ++i) y[i] = quotient(x[i], length);
    });
  }

  /// dx = (dy - d sum of dy y) / norm; d is y if p is 2, sign(y) if p is 1.
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* from = context.input(0).data<T>();
      const T* up = context.grad_output(0).data<T>();
      T* to = context.grad_input(0).data<T>();
      lines_.for_each([&](std::int64_t first) {
        const auto x = lines_.line(from + first), dy = lines_.line(up + first);
        const auto dx = lines_.line(to + first);
        const double length = norm(x);
        double sum = 0;
        for (std::int64_t i = 0; i < x.count; ++i) sum += double(dy[i] * quotient(x[i], length));
        for (std::int64_t i = 0; i < x.count; ++i) {
          const double d =
              p_ == 2 ? double(quotient(x[i], length)) : double((x[i] > 0) - (x[i] < 0));
          dx[i] = quotient(T(double(dy[i]) - d * sum), length);
        }
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  double norm(Line<const T> x) const {
    double sum = 0;
    for (std::int64_t i = 0; i < x.count; ++i) {
      const auto value = double(Arithmetic<T>(x[i]));
      sum += p_ == 2 ? value * value : std::abs(value);
    }
    return p_ == 2 ? std::sqrt(sum) : sum;
  }
  /// A line of zeros stays unchanged.
  static T quotient(T x, double length) {
    using A = Arithmetic<T>;
    return length == 0 ? T(A(0)) : T(A(double(A(x)) / length));
  }

  Lines lines_;
  std::int64_t p_;
};

/// Shapes: y as x.
class LpNormalization final : public ElementwiseOperator {
 public:
  explicit LpNormalization(const onnx::nodes::LpNormalization& view)
      : axis_(view.axis()), p_(view.p()) {
    if (p_ == 1 || p_ == 2) return;
    throw ValueError(fmt::format("{}: p is {}, expected 1 or 2", onnx::describe(view.node()), p_));
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)lines(context);
    return {context.input(0)};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<LpNormalizationKernel<T>>(lines(context), p_);
    });
  }

 protected:
  /// A square or an absolute value, its sum, a quotient.
  double flop_per_element() const override { return 3; }

 private:
  Lines lines(const InferContext& context) const {
    const Shape& x = context.shape(0);
    return Lines::along(normalize_axis(axis_, x.rank(), context.who()), x);
  }

  std::int64_t axis_, p_;
};

}  // namespace

void register_lp_normalization(OperatorRegistry& registry) {
  registry.add<LpNormalization, onnx::nodes::LpNormalization>();
}

}  // namespace d5::ops

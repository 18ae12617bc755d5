// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: a distribution for each line along the axis.
#include <cmath>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/lines.hpp"

namespace d5::ops {
namespace {

using detail::Line;
using detail::Lines;

template <class T>
Arithmetic<std::remove_const_t<T>> largest(Line<T> x) {
  using A = Arithmetic<std::remove_const_t<T>>;
  A result = A(x[0]);
  for (std::int64_t i = 1; i < x.count; ++i) {
    const A value = A(x[i]);
    if (value > result || std::isnan(value)) result = value;
  }
  return result;
}

/// y = exp(x - max) / sum of exp(x - max)
struct SoftmaxFunction {
  static constexpr bool kDifferentiable = true;
  static constexpr double kFlop = 5;  // maximum, difference, exponential, sum, quotient

  template <class T>
  static void forward(Line<const T> x, Line<T> y) {
    using A = Arithmetic<T>;
    const A top = largest(x);
    A sum = 0;
    for (std::int64_t i = 0; i < x.count; ++i) sum += std::exp(A(x[i]) - top);
    for (std::int64_t i = 0; i < x.count; ++i) y[i] = T(std::exp(A(x[i]) - top) / sum);
  }
  /// dx = y (dy - sum of dy y)
  template <class T>
  static void backward(Line<const T> y, Line<const T> dy, Line<T> dx) {
    T sum = 0;
    for (std::int64_t i = 0; i < y.count; ++i) sum += dy[i] * y[i];
    for (std::int64_t i = 0; i < y.count; ++i) dx[i] = y[i] * (dy[i] - sum);
  }
};

/// y = x - max - log(sum of exp(x - max))
struct LogSoftmaxFunction {
  static constexpr bool kDifferentiable = true;
  static constexpr double kFlop = 5;  // maximum, two differences, exponential, sum

  template <class T>
  static void forward(Line<const T> x, Line<T> y) {
    using A = Arithmetic<T>;
    const A top = largest(x);
    A sum = 0;
    for (std::int64_t i = 0; i < x.count; ++i) sum += std::exp(A(x[i]) - top);
    const A log_sum = std::log(sum);
    for (std::int64_t i = 0; i < x.count; ++i) y[i] = T(A(x[i]) - top - log_sum);
  }
  /// dx = dy - exp(y) sum of dy
  template <class T>
  static void backward(Line<const T> y, Line<const T> dy, Line<T> dx) {
    T sum = 0;
    for (std::int64_t i = 0; i < y.count; ++i) sum += dy[i];
    for (std::int64_t i = 0; i < y.count; ++i) dx[i] = dy[i] - std::exp(y[i]) * sum;
  }
};

/// 1 at the first largest element, 0 elsewhere
struct HardmaxFunction {
  static constexpr bool kDifferentiable = false;
  static constexpr double kFlop = 1;  // maximum

  template <class T>
  static void forward(Line<const T> x, Line<T> y) {
    using A = Arithmetic<T>;
    const A top = largest(x);
    bool found = false;
    for (std::int64_t i = 0; i < x.count; ++i) {
      const bool first = !found && A(x[i]) == top;
      found = found || first;
      y[i] = T(A(first ? 1 : 0));
    }
  }
};

template <class Function, class T>
class SoftmaxKernel final : public Kernel {
 public:
  explicit SoftmaxKernel(const Lines& lines) : lines_(lines) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    lines_.for_each([&](std::int64_t first) {
      Function::forward(lines_.line(x + first), lines_.line(y + first));
    });
  }

  void backward(GradContext& context) override {
    if constexpr (Function::kDifferentiable && std::is_floating_point_v<T>) {
      const T* y = context.output(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      lines_.for_each([&](std::int64_t first) {
        Function::backward(lines_.line(y + first), lines_.line(dy + first),
                           lines_.line(dx + first));
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {0}};
  }

 private:
  Lines lines_;
};

/// Shapes: y as x. Before opset 13, x is flattened to a matrix at the axis, and each row is a line.
template <class Function>
class Softmax final : public ElementwiseOperator {
 public:
  template <class View>
  explicit Softmax(const View& view) : axis_(view.axis()), flattens_(view.node().opset < 13) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)normalize_axis(axis_, context.shape(0).rank(), context.who());
    return {context.input(0)};
  }

  Places gradients() const override { return Function::kDifferentiable ? Places{0} : Places{}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<SoftmaxKernel<Function, T>>(lines(context));
    });
  }

 protected:
  double flop_per_element() const override { return Function::kFlop; }

 private:
  Lines lines(const InferContext& context) const {
    const Shape& x = context.shape(0);
    const std::size_t axis = normalize_axis(axis_, x.rank(), context.who());
    if (flattens_) return {x.elements(0, axis), x.elements(axis, x.rank()), 1};
    return Lines::along(axis, x);
  }

  std::int64_t axis_;
  bool flattens_;
};

}  // namespace

void register_softmax(OperatorRegistry& registry) {
  registry.add<Softmax<SoftmaxFunction>, onnx::nodes::Softmax>();
  registry.add<Softmax<LogSoftmaxFunction>, onnx::nodes::LogSoftmax>();
  registry.add<Softmax<HardmaxFunction>, onnx::nodes::Hardmax>();
}

}  // namespace d5::ops

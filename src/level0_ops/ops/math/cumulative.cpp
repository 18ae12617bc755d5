// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: prefix sums and products along an axis.
#include <fmt/format.h>

#include <concepts>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/accumulator.hpp"
#include "level0_ops/kernels/lines.hpp"
#include "level0_ops/operator/conversion.hpp"

namespace d5::ops {
namespace {

using detail::Line;
using detail::Lines;
namespace nodes = onnx::nodes;

struct Sum {
  using View = nodes::CumSum;
  static constexpr bool kReadsInput = false;
  static constexpr int kNone = 0;
  template <class A>
  static A join(A total, A x) {
    return total + x;
  }
  /// The derivative of the new total by the previous one.
  static double slope(double) { return 1; }
};

struct Product {
  using View = nodes::CumProd;
  static constexpr bool kReadsInput = true;
  static constexpr int kNone = 1;
  template <class A>
  static A join(A total, A x) {
    return total * x;
  }
  static double slope(double x) { return x; }
};

struct Direction {
  bool exclusive, reverse;
};

template <class F, class T>
class CumulativeKernel final : public Kernel {
 public:
  CumulativeKernel(const PlanContext& context, Direction direction)
      : shape_(context.shape(0)),
        to_int64_(context.dtype(1), DType::int64),
        who_(context.who()),
        direction_(direction) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    const Lines lines = lines_of(context.input(1));
    lines.for_each([&](std::int64_t first) {
      run(in_order(lines.line(x + first)), in_order(lines.line(y + first)));
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = F::kReadsInput ? context.input(0).data<T>() : nullptr;
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const Lines lines = lines_of(context.input(1));
      lines.for_each([&](std::int64_t first) {
        const Line<const T> factors =
            F::kReadsInput ? in_order(lines.line(x + first)) : Line<const T>{};
        run_back(factors, in_order(lines.line(dy + first)), in_order(lines.line(dx + first)));
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = F::kReadsInput ? Places{0, 1} : Places{1},
            .backward_reads_outputs = {}};
  }

 private:
  Lines lines_of(const Tensor& axis) const {
    std::int64_t value = 0;
    to_int64_.run(&value, axis.raw(), 1);
    return Lines::along(normalize_axis(value, shape_.rank(), who_), shape_);
  }
  template <class U>
  Line<U> in_order(Line<U> line) const {
    return direction_.reverse ? line.reversed() : line;
  }

  void run(Line<const T> x, Line<T> y) const {
    using A = detail::Accumulator<Arithmetic<T>>;
    A total = F::kNone;
    for (std::int64_t i = 0; i < x.count; ++i) {
      const A before = total;
      total = F::join(total, A(Arithmetic<T>(x[i])));
      y[i] = T(Arithmetic<T>(direction_.exclusive ? before : total));
    }
  }

  /// An element's gradient is its slope times `later`, the gradients of all results from it on,
  /// times the slopes in between. Avoids quotients, so that factors may be zero.
  void run_back(Line<const T> x, Line<const T> dy, Line<T> dx) const {
    const auto slope = [&](std::int64_t i) {
      return F::slope(F::kReadsInput ? double(x[i]) : 0.0);
    };
    double before = 1;
    for (std::int64_t i = 0; i < dx.count; ++i) {
      dx[i] = T(before);
      before *= slope(i);
    }
    double after = 0;
    for (std::int64_t i = dx.count; i-- > 0;) {
      const double later = direction_.exclusive ? after : after + double(dy[i]);
      dx[i] = T(double(dx[i]) * later);
      after = slope(i) * later + (direction_.exclusive ? double(dy[i]) : 0);
    }
  }

  Shape shape_;
  detail::Conversion to_int64_;
  std::string who_;
  Direction direction_;
};

/// Shapes: y as x; the axis is a scalar.
template <class F>
class Cumulative final : public ElementwiseOperator {
 public:
  explicit Cumulative(const typename F::View& view)
      : direction_{.exclusive = view.exclusive() != 0, .reverse = view.reverse() != 0} {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.shape(1).elements() != 1) {
      throw ShapeError(fmt::format("{}: the axis is {}, expected one number", context.who(),
                                   to_string(context.shape(1))));
    }
    return {context.input(0)};
  }

  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(
        detail::SummedTypes{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<CumulativeKernel<F, T>>(context, direction_); });
  }

 private:
  Direction direction_;
};

template <class F>
void add(OperatorRegistry& registry) {
  registry.add<Cumulative<F>, typename F::View>();
}

}  // namespace

void register_cumulative(OperatorRegistry& registry) {
  add<Sum>(registry);
  add<Product>(registry);
}

}  // namespace d5::ops

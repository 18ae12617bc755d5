// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and Hardmax: each line along the axis becomes a distribution.
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/parallel_each.hpp"

namespace d5::ops {
namespace {

/// `count` elements, `stride` apart.
template <class T>
struct Line {
  T* data;
  std::int64_t count, stride;
  T& operator[](std::int64_t i) const { return data[i * stride]; }
};

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

/// y = exp(x - max) / sum of the same
struct SoftmaxFunction {
  using View = onnx::nodes::Softmax;
  static constexpr bool kDifferentiable = true;

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
  using View = onnx::nodes::LogSoftmax;
  static constexpr bool kDifferentiable = true;

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
  using View = onnx::nodes::Hardmax;
  static constexpr bool kDifferentiable = false;

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

/// Shapes: y as x. Before opset 13 x is a matrix, the axis its first dimension of the second half,
/// and each row is one line.
template <class Function>
class Softmax final : public Operator {
 public:
  explicit Softmax(const onnx::Node& node)
      : axis_(typename Function::View(node).axis()), flattens_(node.opset < 13) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)normalize_axis(axis_, context.shape(0).rank(), context.who());
    return {context.input(0)};
  }

  void plan(PlanContext& context) override {
    const Shape& x = context.shape(0);
    const std::size_t axis = normalize_axis(axis_, x.rank(), context.who());
    outer_ = x.elements(0, axis);
    count_ = flattens_ ? x.elements(axis, x.rank()) : x[axis];
    inner_ = flattens_ ? 1 : x.elements(axis + 1, x.rank());
  }

  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      T* y = context.output(0).data<T>();
      for_each_line([&](std::int64_t first) {
        Function::forward(Line<const T>{x + first, count_, inner_},
                          Line<T>{y + first, count_, inner_});
      });
    });
  }

  void backward(GradContext& context) override {
    if constexpr (Function::kDifferentiable) {
      dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
        const T* y = context.output(0).data<T>();
        const T* dy = context.grad_output(0).data<T>();
        T* dx = context.grad_input(0).data<T>();
        for_each_line([&](std::int64_t first) {
          Function::backward(Line<const T>{y + first, count_, inner_},
                             Line<const T>{dy + first, count_, inner_},
                             Line<T>{dx + first, count_, inner_});
        });
      });
    } else {
      Operator::backward(context);
    }
  }

  bool differentiable(std::size_t) const override { return Function::kDifferentiable; }
  bool backward_needs_input(std::size_t) const override { return false; }

 private:
  template <class F>
  void for_each_line(F&& f) const {
    if (count_ == 0) return;
    detail::parallel_for_each(outer_ * inner_, count_, 4096, [&](std::int64_t i) {
      f(i / inner_ * count_ * inner_ + i % inner_);
    });
  }

  std::int64_t axis_;
  bool flattens_;
  // Of the plan:
  std::int64_t outer_ = 1, count_ = 1, inner_ = 1;
};

}  // namespace

void register_softmax(OperatorRegistry& registry) {
  registry.add<Softmax<SoftmaxFunction>>("Softmax");
  registry.add<Softmax<LogSoftmaxFunction>>("LogSoftmax");
  registry.add<Softmax<HardmaxFunction>>("Hardmax");
}

}  // namespace d5::ops

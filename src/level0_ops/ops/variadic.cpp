// SPDX-License-Identifier: Apache-2.0
// Sum, Mean, Min, Max of any number of tensors, element by element, with broadcasting.
#include <fmt/format.h>

#include <cmath>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "level0_ops/elementwise.hpp"

namespace d5::ops {
namespace {

/// NaN wins.
struct MaxFunction {
  template <class T>
  static T value(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct MinFunction {
  template <class T>
  static T value(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

/// Shapes: all inputs are broadcast to the output.
class Variadic : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    detail::expect_same_types(context, 0, context.input_count());
    return {
        TensorDesc{context.dtype(0), detail::broadcast_inputs(context, 0, context.input_count())}};
  }
  bool differentiable(std::size_t) const override { return true; }
  int in_place_output() const override { return 0; }

 protected:
  /// y = f(... f(f(x0, x1), x2) ...)
  template <class T, class F>
  static void fold(OpContext& context, F f) {
    Tensor& y = context.output(0);
    const Tensor& first = context.input(0);
    if (first.raw() != y.raw()) {
      detail::copy_strided(y.dtype(), detail::broadcast_loop(y.shape(), {&first.shape()}), y.raw(),
                           first.raw());
    }
    for (std::size_t i = 1; i < context.input_count(); ++i) {
      const Tensor& x = context.input(i);
      const auto loop = detail::broadcast_loop(y.shape(), {&y.shape(), &x.shape()});
      detail::apply_binary(loop, y.data<T>(), y.data<T>(), x.data<T>(), f);
    }
  }
};

/// The sum, divided by the number of inputs for a mean.
class Total final : public Variadic {
 public:
  explicit Total(const onnx::Node& node)
      : parts_(node.op_type == "Mean" ? double(node.inputs.size()) : 1.0) {}

  void forward(OpContext& context) override {
    Tensor& y = context.output(0);
    dispatch(FloatTypes{}, y.dtype(), context.node().op_type, [&]<class T>() {
      using A = Arithmetic<T>;
      fold<T>(context, [](T a, T b) { return T(A(a) + A(b)); });
      if (parts_ == 1) return;
      for (T& element : y.span<T>()) element = T(A(element) / A(parts_));
    });
  }

  void backward(GradContext& context) override {
    const Tensor& dy = context.grad_output(0);
    dispatch(RealTypes{}, dy.dtype(), context.node().op_type, [&]<class T>() {
      const T slope = T(1 / parts_);
      for (std::size_t i = 0; i < context.grad_inputs.size(); ++i) {
        if (!context.wants_grad(i)) continue;
        Tensor& dx = context.grad_input(i);
        const T* none = nullptr;
        detail::accumulate_gradient<T>(detail::broadcast_loop(dy.shape(), {&dx.shape()}), dx, dy,
                                       none, none, [slope](const T*, const T*) { return slope; });
      }
    });
  }

  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  double parts_;
};

/// The gradient goes to the inputs that hold the extreme value, in equal parts.
template <class Function>
class Extreme final : public Variadic {
 public:
  void plan(PlanContext& context) override {
    if (context.mode() == Mode::training) context.request_scratch(context.output(0).bytes());
  }

  void forward(OpContext& context) override {
    dispatch(NumberTypes{}, context.output(0).dtype(), context.node().op_type, [&]<class T>() {
      fold<T>(context,
              [](T a, T b) { return T(Function::value(Arithmetic<T>(a), Arithmetic<T>(b))); });
    });
  }

  void backward(GradContext& context) override {
    const Tensor &dy = context.grad_output(0), &y = context.output(0);
    dispatch(RealTypes{}, dy.dtype(), context.node().op_type, [&]<class T>() {
      // dy, divided by how many inputs hold the value.
      Tensor share = Tensor::borrow(dy.desc(), context.scratch().data());
      std::fill_n(share.data<T>(), share.elements(), T(0));
      for (std::size_t i = 0; i < context.input_count(); ++i) {
        const Tensor& x = context.input(i);
        const auto loop = detail::broadcast_loop(y.shape(), {&y.shape(), &x.shape()});
        T* holders = share.data<T>();
        const T *out = y.data<T>(), *in = x.data<T>();
        const std::int64_t step = loop.step(2);
        loop.run_in_order([=](const detail::StridedLoop::Offsets& at, std::int64_t count) {
          for (std::int64_t k = 0; k < count; ++k) {
            holders[at[0] + k] += T(in[at[2] + k * step] == out[at[0] + k]);
          }
        });
      }
      const T* g = dy.data<T>();
      T* parts = share.data<T>();
      for (std::int64_t k = 0; k < dy.elements(); ++k) {
        parts[k] = parts[k] > 0 ? g[k] / parts[k] : T(0);
      }
      for (std::size_t i = 0; i < context.input_count(); ++i) {
        if (!context.wants_grad(i)) continue;
        Tensor& dx = context.grad_input(i);
        const auto loop =
            detail::broadcast_loop(dy.shape(), {&dx.shape(), &dx.shape(), &y.shape()});
        detail::accumulate_gradient<T>(loop, dx, share, context.input(i).data<T>(), y.data<T>(),
                                       [](const T* in, const T* out) { return T(*in == *out); });
      }
    });
  }
};

}  // namespace

void register_variadic(OperatorRegistry& registry) {
  registry.add<Total>("Sum");
  registry.add<Total>("Mean");
  registry.add<Extreme<MaxFunction>>("Max");
  registry.add<Extreme<MinFunction>>("Min");
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Clip: y = min(high, max(low, x)).
#include <fmt/format.h>

#include <limits>

#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::ops {
namespace {

using View = onnx::nodes::Clip;

/// Shapes: low and high are scalars; y as x.
class Clip final : public Operator {
 public:
  explicit Clip(const onnx::Node& node) {
    if (node.opset >= 11) return;
    min_ = View(node).min();
    max_ = View(node).max();
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (const std::size_t i : {View::In::min, View::In::max}) {
      if (!context.has_input(i)) continue;
      if (context.dtype(i) != context.dtype(0) || context.shape(i).elements() != 1) {
        throw TypeError(fmt::format("{}: limit {} is {}, expected one element of {}", context.who(),
                                    i, to_string(context.input(i)), name_of(context.dtype(0))));
      }
    }
    return {context.input(0)};
  }

  void forward(OpContext& context) override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch(NumberTypes{}, x.dtype(), View::kName, [&]<class T>() {
      using A = Arithmetic<T>;
      const auto [low, high] = limits<T>(context);
      const T* from = x.data<T>();
      T* to = y.data<T>();
      const auto piece = [=, low = low, high = high](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          A v = A(from[i]);
          v = v < low ? low : v;  // NaN stays NaN
          to[i] = T(v > high ? high : v);
        }
      };
      parallel_for(x.elements(), 16384, std::ref(piece));
    });
  }

  void backward(GradContext& context) override {
    const Tensor& x = context.input(0);
    dispatch(RealTypes{}, x.dtype(), View::kName, [&]<class T>() {
      const auto [low, high] = limits<T>(context);
      const T* from = x.data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for (std::int64_t i = 0; i < x.elements(); ++i) {
        dx[i] = from[i] >= low && from[i] <= high ? dy[i] : T(0);
      }
    });
  }

  bool differentiable(std::size_t input) const override { return input == 0; }
  bool backward_needs_output(std::size_t) const override { return false; }
  int in_place_output() const override { return 0; }

 private:
  template <class T, class Context>
  [[nodiscard]] std::pair<Arithmetic<T>, Arithmetic<T>> limits(const Context& context) const {
    using A = Arithmetic<T>;
    using Limits = std::numeric_limits<A>;
    A low = std::is_floating_point_v<A> ? -Limits::infinity() : Limits::lowest();
    A high = std::is_floating_point_v<A> ? Limits::infinity() : Limits::max();
    if (min_) low = A(*min_);
    if (max_) high = A(*max_);
    if (context.has_input(View::In::min)) {
      low = A(context.input(View::In::min).template item<T>());
    }
    if (context.has_input(View::In::max)) {
      high = A(context.input(View::In::max).template item<T>());
    }
    return {low, high};
  }

  std::optional<float> min_, max_;
};

}  // namespace

void register_clip(OperatorRegistry& registry) { registry.add<Clip>("Clip"); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// The p-norm over a sliding window (LpPool), or over all of a channel (GlobalLpPool).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "d5/core/threads.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/window.hpp"

namespace d5::ops {
namespace {

/// y = (sum of |x|^p)^(1/p)
///
/// Shapes: x is N x C x spatial (one to three), y is N x C x output.
class LpPool final : public Operator {
 public:
  explicit LpPool(const onnx::nodes::GlobalLpPool& view) { set_power(view); }
  explicit LpPool(const onnx::nodes::LpPool& view) : attributes_(WindowAttributes::of(view)) {
    set_power(view);
    if (attributes_->kernel().empty()) {
      throw FormatError(fmt::format("{}: attribute kernel_shape is required but missing",
                                    onnx::describe(view.node())));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    const Window w = window(context);
    return {TensorDesc{context.dtype(0), w.output_shape(x[0], x[1])}};
  }

  void plan(PlanContext& context) override {
    window_ = window(context);
    const bool empty = context.input(0).elements() == 0 && context.output(0).elements() == 0;
    planes_ = empty ? 0 : context.shape(0)[0] * context.shape(0)[1];
  }

  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      using A = Arithmetic<T>;
      const T* x = context.input(0).data<T>();
      T* y = context.output(0).data<T>();
      const A p = A(power_);
      for_each_plane([&](std::int64_t plane) {
        const T* from = x + plane * window_.input_size();
        T* to = y + plane * window_.output_size();
        window_.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          A sum = 0;
          window_.for_each_tap(oz, oy, ox,
                               [&](std::int64_t i) { sum += std::pow(std::abs(A(from[i])), p); });
          to[o] = T(std::pow(sum, A(1) / p));
        });
      });
    });
  }

  /// dx = dy sign(x) (|x| / y)^(p - 1)
  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* x = context.input(0).data<T>();
      const T* y = context.output(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for_each_plane([&](std::int64_t plane) {
        const T* from = x + plane * window_.input_size();
        T* to = dx + plane * window_.input_size();
        std::fill_n(to, window_.input_size(), T(0));
        window_.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          const std::int64_t place = plane * window_.output_size() + o;
          if (y[place] == 0) return;
          window_.for_each_tap(oz, oy, ox, [&](std::int64_t i) {
            const T ratio = std::pow(std::abs(from[i]) / y[place], T(power_ - 1));
            to[i] += std::copysign(ratio, from[i]) * dy[place];
          });
        });
      });
    });
  }

  bool differentiable(std::size_t) const override { return true; }

 private:
  template <class View>
  void set_power(const View& view) {
    power_ = view.node().opset < 2 ? double(view.p_v1()) : double(view.p());
    if (!(power_ >= 1)) {
      throw ValueError(
          fmt::format("{}: p is {}, expected 1 or more", onnx::describe(view.node()), power_));
    }
  }

  Window window(const InferContext& context) const {
    if (!attributes_) return WindowAttributes::whole(context.shape(0), context.who());
    return attributes_->resolve(context.shape(0), attributes_->kernel(), context.who());
  }

  template <class F>
  void for_each_plane(F&& f) const {
    const std::int64_t work = window_.output_size() * window_.kernel_size();
    const std::int64_t grain = std::max<std::int64_t>(1, 1024 / std::max<std::int64_t>(1, work));
    parallel_for(planes_, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t plane = begin; plane < end; ++plane) f(plane);
    });
  }

  std::optional<WindowAttributes> attributes_;  ///< none: the window is all of a channel
  double power_ = 2;
  // Of the plan:
  Window window_;
  std::int64_t planes_ = 0;
};

}  // namespace

void register_lp_pool(OperatorRegistry& registry) {
  registry.add("LpPool", {}, [](const onnx::Node& node) {
    return std::make_unique<LpPool>(onnx::nodes::LpPool(node));
  });
  registry.add("GlobalLpPool", {}, [](const onnx::Node& node) {
    return std::make_unique<LpPool>(onnx::nodes::GlobalLpPool(node));
  });
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// The p-norm over a sliding window (LpPool), or over all of a channel (GlobalLpPool).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/pooling.hpp"

namespace d5::ops {
namespace {

/// y = (sum of |x|^p)^(1/p)
class LpPool final : public detail::Pooling {
 public:
  explicit LpPool(const onnx::nodes::GlobalLpPool& view) { set_power(view); }
  explicit LpPool(const onnx::nodes::LpPool& view) : Pooling(WindowAttributes::of(view)) {
    set_power(view);
    if (view.kernel_shape().value_or(std::vector<std::int64_t>{}).empty()) {
      throw FormatError(fmt::format("{}: attribute kernel_shape is required but missing",
                                    onnx::describe(view.node())));
    }
  }

  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      using A = Arithmetic<T>;
      const T* x = context.input(0).data<T>();
      T* y = context.output(0).data<T>();
      const A p = A(power_);
      for_each_plane<kGrain>([&](std::int64_t plane) {
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
      for_each_plane<kGrain>([&](std::int64_t plane) {
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

  /// Its work is powers, which flop does not count.
  Cost cost(const InferContext& context) const override { return Operator::cost(context); }

 private:
  template <class View>
  void set_power(const View& view) {
    power_ = view.node().opset < 2 ? double(view.p_v1()) : double(view.p());
    if (!(power_ >= 1)) {
      throw ValueError(
          fmt::format("{}: p is {}, expected 1 or more", onnx::describe(view.node()), power_));
    }
  }

  static constexpr std::int64_t kGrain = 1024;  // powers take long
  double power_ = 2;
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

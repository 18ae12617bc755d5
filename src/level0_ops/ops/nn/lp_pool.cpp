// SPDX-License-Identifier: Apache-2.0
// p-norm over a sliding window (LpPool), or over a whole channel (GlobalLpPool).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/window/pooling.hpp"

namespace d5::ops {
namespace {

constexpr std::int64_t kGrain = 1024;  // small, because powers are slow

template <class T>
class LpPoolKernel final : public Kernel {
 public:
  LpPoolKernel(const detail::PooledPlanes& planes, double power) : planes_(planes), power_(power) {}

  void forward(OpContext& context) override {
    using A = Arithmetic<T>;
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    const Window& window = planes_.window;
    planes_.for_each<kGrain>([&](std::int64_t plane) {
      const T* from = x + plane * window.input_size();
      T* to = y + plane * window.output_size();
      window.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
        double sum = 0;  // double can represent squares of float32
        window.for_each_tap(oz, oy, ox, [&](std::int64_t i) {
          sum += std::pow(std::abs(double(A(from[i]))), power_);
        });
        to[o] = T(A(std::pow(sum, 1 / power_)));
      });
    });
  }

  /// dx = dy sign(x) (|x| / y)^(p - 1)
  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* x = context.input(0).data<T>();
      const T* y = context.output(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const Window& window = planes_.window;
      planes_.for_each<kGrain>([&](std::int64_t plane) {
        const T* from = x + plane * window.input_size();
        T* to = dx + plane * window.input_size();
        std::fill_n(to, window.input_size(), T(0));
        window.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          const std::int64_t place = plane * window.output_size() + o;
          if (y[place] == 0) return;
          window.for_each_tap(oz, oy, ox, [&](std::int64_t i) {
            const T ratio = std::pow(std::abs(from[i]) / y[place], T(power_ - 1));
            to[i] += std::copysign(ratio, from[i]) * dy[place];
          });
        });
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {0}};
  }

 private:
  detail::PooledPlanes planes_;
  double power_;
};

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

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<LpPoolKernel<T>>(planes(context), power_);
    });
  }

 protected:
  double flop_per_tap() const override { return 2; }  // a power and its sum

 private:
  template <class View>
  void set_power(const View& view) {
    power_ = view.node().opset < 2 ? double(view.p_v1()) : double(view.p());
    if (!(power_ >= 1)) {
      throw ValueError(
          fmt::format("{}: p is {}, expected 1 or more", onnx::describe(view.node()), power_));
    }
  }

  double power_ = 2;
};

}  // namespace

void register_lp_pool(OperatorRegistry& registry) {
  registry.add<LpPool, onnx::nodes::LpPool>();
  registry.add<LpPool, onnx::nodes::GlobalLpPool>();
}

}  // namespace d5::ops

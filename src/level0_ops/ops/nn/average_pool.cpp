// SPDX-License-Identifier: Apache-2.0
// Mean over a sliding window (AveragePool), or over a whole channel (GlobalAveragePool).
#include <algorithm>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/window/pooling.hpp"

namespace d5::ops {
namespace {

template <class T>
class AveragePoolKernel final : public Kernel {
 public:
  AveragePoolKernel(const detail::PooledPlanes& planes, bool includes_padding)
      : planes_(planes), includes_padding_(includes_padding) {}

  void forward(OpContext& context) override {
    using A = Arithmetic<T>;
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    const Window& window = planes_.window;
    planes_.for_each([&](std::int64_t plane) {
      const T* from = x + plane * window.input_size();
      T* to = y + plane * window.output_size();
      window.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
        double sum = 0;  // may exceed the range of A
        window.for_each_tap(oz, oy, ox, [&](std::int64_t i) { sum += double(A(from[i])); });
        to[o] = T(A(sum / double(divisor(oz, oy, ox))));
      });
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      const Window& window = planes_.window;
      planes_.for_each([&](std::int64_t plane) {
        const T* from = dy + plane * window.output_size();
        T* to = dx + plane * window.input_size();
        std::fill_n(to, window.input_size(), T(0));
        window.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          const T share = from[o] / T(divisor(oz, oy, ox));
          window.for_each_tap(oz, oy, ox, [&](std::int64_t i) { to[i] += share; });
        });
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t counted(const WindowAxis& axis, std::int64_t o) const {
    if (!includes_padding_) {
      const auto [begin, end] = axis.taps(o);
      return std::max<std::int64_t>(0, end - begin);
    }
    const std::int64_t room = axis.input + axis.pad_end - 1 - axis.at(o, 0);
    return room < 0 ? 0 : std::min(axis.kernel, room / axis.dilation + 1);
  }
  /// At least 1, so that an empty window has the mean 0.
  std::int64_t divisor(std::int64_t z, std::int64_t y, std::int64_t x) const {
    const auto& [depth, height, width] = planes_.window.axes;
    return std::max<std::int64_t>(1, counted(depth, z) * counted(height, y) * counted(width, x));
  }

  detail::PooledPlanes planes_;
  bool includes_padding_;
};

/// Padding counts as zeros in the mean only if count_include_pad is set. Positions beyond the
/// padding never count.
class AveragePool final : public detail::Pooling {
 public:
  explicit AveragePool(const onnx::nodes::GlobalAveragePool&) {}
  explicit AveragePool(const onnx::nodes::AveragePool& view)
      : Pooling(WindowAttributes::of(view)), includes_padding_(view.count_include_pad() != 0) {}

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<AveragePoolKernel<T>>(planes(context), includes_padding_);
    });
  }

 private:
  bool includes_padding_ = false;
};

}  // namespace

void register_average_pool(OperatorRegistry& registry) {
  registry.add<AveragePool, onnx::nodes::AveragePool>();
  registry.add<AveragePool, onnx::nodes::GlobalAveragePool>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// Mean over a sliding window (AveragePool), or over all of a channel (GlobalAveragePool).
#include <algorithm>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/pooling.hpp"

namespace d5::ops {
namespace {

/// Padding counts as zeros in the mean if count_include_pad says so, and not at all otherwise; what
/// lies past it never counts.
class AveragePool final : public detail::Pooling {
 public:
  explicit AveragePool(const onnx::nodes::GlobalAveragePool&) {}
  explicit AveragePool(const onnx::nodes::AveragePool& view)
      : Pooling(WindowAttributes::of(view)), includes_padding_(view.count_include_pad() != 0) {}

  void forward(OpContext& context) override {
    dispatch(FloatTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      using A = Arithmetic<T>;
      const T* x = context.input(0).data<T>();
      T* y = context.output(0).data<T>();
      for_each_plane([&](std::int64_t plane) {
        const T* from = x + plane * window_.input_size();
        T* to = y + plane * window_.output_size();
        window_.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          A sum = 0;
          window_.for_each_tap(oz, oy, ox, [&](std::int64_t i) { sum += A(from[i]); });
          to[o] = T(sum / A(divisor(oz, oy, ox)));
        });
      });
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      for_each_plane([&](std::int64_t plane) {
        const T* from = dy + plane * window_.output_size();
        T* to = dx + plane * window_.input_size();
        std::fill_n(to, window_.input_size(), T(0));
        window_.for_each_output([&](std::int64_t o, auto oz, auto oy, auto ox) {
          const T share = from[o] / T(divisor(oz, oy, ox));
          window_.for_each_tap(oz, oy, ox, [&](std::int64_t i) { to[i] += share; });
        });
      });
    });
  }

  bool backward_needs_input(std::size_t) const override { return false; }
  bool backward_needs_output(std::size_t) const override { return false; }

 private:
  std::int64_t counted(const WindowAxis& axis, std::int64_t o) const {
    if (!includes_padding_) {
      const auto [begin, end] = axis.taps(o);
      return std::max<std::int64_t>(0, end - begin);
    }
    const std::int64_t room = axis.input + axis.pad_end - 1 - axis.at(o, 0);
    return room < 0 ? 0 : std::min(axis.kernel, room / axis.dilation + 1);
  }
  /// At least 1: a window that covers nothing has the mean 0.
  std::int64_t divisor(std::int64_t z, std::int64_t y, std::int64_t x) const {
    return std::max<std::int64_t>(
        1, counted(window_.axes[0], z) * counted(window_.axes[1], y) * counted(window_.axes[2], x));
  }

  bool includes_padding_ = false;
};

}  // namespace

void register_average_pool(OperatorRegistry& registry) {
  registry.add("AveragePool", {}, [](const onnx::Node& node) {
    return std::make_unique<AveragePool>(onnx::nodes::AveragePool(node));
  });
  registry.add("GlobalAveragePool", {}, [](const onnx::Node& node) {
    return std::make_unique<AveragePool>(onnx::nodes::GlobalAveragePool(node));
  });
}

}  // namespace d5::ops

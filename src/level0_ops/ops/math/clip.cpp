// SPDX-License-Identifier: Apache-2.0
// Clip: y = min(high, max(low, x)).
#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <optional>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/element_function.hpp"

namespace d5::ops {
namespace {

using ClipView = onnx::nodes::Clip;

/// Limits in the node's attributes; newer opsets have inputs.
struct Limits {
  std::optional<float> low, high;

  template <class T, class Context>
  [[nodiscard]] std::pair<Arithmetic<T>, Arithmetic<T>> read(const Context& context) const {
    using A = Arithmetic<T>;
    using Range = std::numeric_limits<A>;
    A least = std::floating_point<A> ? -Range::infinity() : Range::lowest();
    A most = std::floating_point<A> ? Range::infinity() : Range::max();
    if (low) least = A(*low);
    if (high) most = A(*high);
    if (context.has_input(ClipView::In::min)) {
      least = A(context.input(ClipView::In::min).template item<T>());
    }
    if (context.has_input(ClipView::In::max)) {
      most = A(context.input(ClipView::In::max).template item<T>());
    }
    return {least, most};
  }
};

template <class T>
class ClipKernel final : public Kernel {
 public:
  ClipKernel(const Limits& limits, std::int64_t elements) : limits_(limits), elements_(elements) {}

  void forward(OpContext& context) override {
    using A = Arithmetic<T>;
    const auto [least, most] = limits_.read<T>(context);
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    parallel_for(elements_, detail::kElementGrain,
                 [=, low = least, high = most](std::int64_t i, std::int64_t end) {
                   for (; i < end; ++i) {
                     A v = A(x[i]);
                     v = v < low ? low : v;  // NaN stays NaN
                     y[i] = T(v > high ? high : v);
                   }
                 });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const auto [least, most] = limits_.read<T>(context);
      const T* x = context.input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      parallel_for(elements_, detail::kElementGrain,
                   [=, low = least, high = most](std::int64_t i, std::int64_t end) {
                     for (; i < end; ++i) dx[i] = x[i] >= low && x[i] <= high ? dy[i] : T(0);
                   });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_outputs = {}, .in_place_output = 0};
  }

 private:
  Limits limits_;
  std::int64_t elements_;
};

/// Shapes: low and high are scalars; y as x.
class Clip final : public ElementwiseOperator {
 public:
  explicit Clip(const ClipView& view) {
    if (view.node().opset < 11) limits_ = {view.min(), view.max()};
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (const std::size_t i : {ClipView::In::min, ClipView::In::max}) {
      if (!context.has_input(i)) continue;
      if (context.dtype(i) != context.dtype(0) || context.shape(i).elements() != 1) {
        throw TypeError(fmt::format("{}: limit {} is {}, expected one element of {}", context.who(),
                                    i, to_string(context.input(i)), name_of(context.dtype(0))));
      }
    }
    return {context.input(0)};
  }

  /// Excludes the limits, which are settings, not trained.
  Places gradients() const override { return {0}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<ClipKernel<T>>(limits_, context.shape(0).elements());
    });
  }

 private:
  double flop_per_element() const override { return 2; }

  Limits limits_;
};

}  // namespace

void register_clip(OperatorRegistry& registry) { registry.add<Clip, ClipView>(); }

}  // namespace d5::ops

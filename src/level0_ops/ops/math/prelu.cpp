// SPDX-License-Identifier: Apache-2.0
// PRelu: a rectifier whose slope below zero is an input.
#include <fmt/format.h>

#include <concepts>
#include <cstdint>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"

namespace d5::ops {
namespace {

using PReluView = onnx::nodes::PRelu;

/// y = x, or slope x below zero; at zero its slope is that below.
struct Rectifier {
  using Types = NumberTypes;
  template <class T>
  T value(T x, T slope) const {
    if (!(x < T(0))) return x;
    if constexpr (std::integral<T>) return T(std::uint64_t(slope) * std::uint64_t(x));
    return T(slope * x);
  }
  template <class T>
  T slope_a(T x, T slope) const {
    return x > 0 ? T(1) : slope;
  }
  template <class T>
  T slope_b(T x, T) const {
    return x > 0 ? T(0) : x;
  }
};

/// Shapes: y as x; the slope is broadcast to x. Before opset 7 it is one number, or one per channel
/// (dimension 1).
/// Source: He et al., "Delving Deep into Rectifiers" (2015).
class PRelu final : public ElementwiseOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)slope_shape(context);
    return {context.input(PReluView::In::X)};
  }

  Places gradients() const override { return {PReluView::In::X, PReluView::In::slope}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(NumberTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<detail::BinaryKernel<Rectifier, T>>(Rectifier(), context,
                                                                  slope_shape(context));
    });
  }

 private:
  /// The slope's shape, broadcastable to x.
  static Shape slope_shape(const InferContext& context) {
    const Shape& x = context.shape(PReluView::In::X);
    Shape slope = context.shape(PReluView::In::slope);
    if (context.node().opset < 7) {
      if (slope.elements() == 1) return Shape();
      if (slope.rank() == 1 && x.rank() > 1) {
        while (slope.rank() < x.rank() - 1) slope.push_back(1);
      }
    }
    if (!broadcasts_to(slope, x)) {
      throw ShapeError(fmt::format("{}: the slope is {}, which cannot be broadcast to X, {}",
                                   context.who(), to_string(context.shape(PReluView::In::slope)),
                                   to_string(x)));
    }
    return slope;
  }

  static bool broadcasts_to(const Shape& slope, const Shape& x) {
    if (slope.rank() > x.rank()) return false;
    for (std::size_t d = 0; d < slope.rank(); ++d) {
      if (slope[d] != 1 && slope[d] != x[x.rank() - slope.rank() + d]) return false;
    }
    return true;
  }
};

}  // namespace

void register_prelu(OperatorRegistry& registry) { registry.add<PRelu, PReluView>(); }

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// SwiGLU: gated linear unit with Swish.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/elementwise/binary.hpp"
#include "level0_ops/kernels/elementwise/swish.hpp"

namespace d5::ops {
namespace {

using SwiGLUView = onnx::nodes::SwiGLU;

/// y = a sigmoid(alpha a) b
struct Gate {
  explicit Gate(const SwiGLUView& view) : alpha(view.alpha()) {}
  template <class T>
  T value(T a, T b) const {
    return detail::swish(a, T(alpha)) * b;
  }
  template <class T>
  T slope_a(T a, T b) const {
    return detail::swish_slope(a, T(alpha)) * b;
  }
  template <class T>
  T slope_b(T a, T) const {
    return detail::swish(a, T(alpha));
  }
  float alpha;
};

/// Shapes: A, B and Y are equal, without broadcasting.
/// Source: Shazeer, "GLU Variants Improve Transformer" (2020).
class SwiGlu final : public ElementwiseOperator {
 public:
  explicit SwiGlu(const SwiGLUView& view) : gate_(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (context.shape(0) != context.shape(1)) {
      throw ShapeError(
          fmt::format("{}: A is {} but B is {}; they must have the same shape; add an Expand",
                      context.who(), to_string(context.shape(0)), to_string(context.shape(1))));
    }
    return {context.input(0)};
  }

  Places gradients() const override { return {SwiGLUView::In::A, SwiGLUView::In::B}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<detail::BinaryKernel<Gate, T>>(gate_, context);
    });
  }

 protected:
  /// alpha a, its sigmoid (an exponential, a sum, a quotient) and two products.
  double flop_per_element() const override { return 6; }

 private:
  Gate gate_;
};

}  // namespace

void register_swiglu(OperatorRegistry& registry) { registry.add<SwiGlu, SwiGLUView>(); }

}  // namespace d5::ops

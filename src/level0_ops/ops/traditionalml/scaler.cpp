// SPDX-License-Identifier: Apache-2.0
// Scaler: (x - offset) * scale, with an offset and a scale per feature or for all.
#include <fmt/format.h>

#include <concepts>
#include <memory>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"

namespace d5::ops {
namespace {

using ScalerView = onnx::nodes::ml::Scaler;
using Floats = std::vector<float>;

template <class T>
class ScalerKernel final : public Kernel {
 public:
  ScalerKernel(const Floats& offset, const Floats& scale) : offset_(offset), scale_(scale) {}

  void forward(OpContext& context) override {
    float* y = context.output(0).data<float>();
    visit(context.input(0).span<T>(), [&](std::size_t f, T x) {
      *y++ = float((double(x) - double(offset_[f])) * double(scale_[f]));
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      T* dx = context.grad_input(0).data<T>();
      visit(context.grad_output(0).span<float>(),
            [&](std::size_t f, float dy) { *dx++ = T(dy) * T(scale_[f]); });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(feature, element)` for each element, in order.
  template <class Elements, class F>
  void visit(Elements elements, const F& f) const {
    std::size_t feature = 0;
    for (const auto element : elements) {
      f(feature, element);
      if (++feature == scale_.size()) feature = 0;
    }
  }

  const Floats &offset_, &scale_;  // the operator's attributes
};

/// Shapes: y as x, float32; the last dimension is the features.
class Scaler final : public Operator {
 public:
  explicit Scaler(const ScalerView& view)
      : offset_(view.offset().value_or(Floats{})), scale_(view.scale().value_or(Floats{})) {
    if (offset_.empty()) offset_.assign(scale_.size(), 0);
    if (scale_.empty()) scale_.assign(offset_.size(), 1);
    if (scale_.empty() || offset_.size() != scale_.size()) {
      throw ValueError(fmt::format("{}: {} offsets and {} scales, expected as many of both",
                                   onnx::describe(view.node()), offset_.size(), scale_.size()));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    const auto count = std::int64_t(scale_.size());
    if (count != 1 && (x.rank() == 0 || x[x.rank() - 1] != count)) {
      throw ShapeError(fmt::format("{}: X is {}, but there are scales for {} features",
                                   context.who(), to_string(x), count));
    }
    return {TensorDesc{DType::float32, x}};
  }

  Places gradients() const override { return {0}; }

  /// A difference and a product per element.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, 2 * double(context.shape(0).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context,
        [&]<class T>() { return std::make_unique<ScalerKernel<T>>(offset_, scale_); });
  }

 private:
  Floats offset_, scale_;
};

}  // namespace

void register_scaler(OperatorRegistry& registry) { registry.add<Scaler, ScalerView>(); }

}  // namespace d5::ops

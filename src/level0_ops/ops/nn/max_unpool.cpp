// SPDX-License-Identifier: Apache-2.0
// MaxUnpool: places the maxima of MaxPool at their original positions, with zeros elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/operator/window.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::ops {
namespace {

using MaxUnpoolView = onnx::nodes::MaxUnpool;

/// T moves like the element type; for gradients it is that type.
template <class T>
class MaxUnpoolKernel final : public Kernel {
 public:
  /// Indices refer to `pooled`, the shape before pooling, which is the first corner of `y`.
  MaxUnpoolKernel(const Shape& pooled, const Shape& y)
      : sizes_(pooled.dims().begin(), pooled.dims().end()),
        strides_(y.strides()),
        elements_(pooled.elements()),
        same_(pooled == y) {}

  void forward(OpContext& context) override {
    detail::zero_elements(context.output(0));
    const T* x = static_cast<const T*>(context.input(MaxUnpoolView::In::X).raw());
    T* y = static_cast<T*>(context.output(0).raw());
    visit(context, [=](std::int64_t i, std::int64_t at) { y[at] = x[i]; });
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(MaxUnpoolView::In::X).data<T>();
      // Two elements at the same position both get its gradient, as in torch.
      visit(context, [=](std::int64_t i, std::int64_t at) { dx[i] = dy[at]; });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {MaxUnpoolView::In::I}, .backward_reads_outputs = {}};
  }

 private:
  /// Calls `f(index in x, index in y)` for every element of x.
  template <class Context, class F>
  void visit(const Context& context, const F& f) const {
    const auto indices = context.input(MaxUnpoolView::In::I).template span<std::int64_t>();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::int64_t index = indices[i];
      if (index < 0 || index >= elements_) {
        throw ValueError(fmt::format("{}: index {} at position {} is outside [0, {}]",
                                     context.who(), index, i, elements_ - 1));
      }
      if (same_) {
        f(std::int64_t(i), index);
        continue;
      }
      std::int64_t at = 0;
      for (std::size_t d = sizes_.size(); d-- > 0; index /= sizes_[d]) {
        at += index % sizes_[d] * strides_[d];
      }
      f(std::int64_t(i), at);
    }
  }

  std::vector<std::int64_t> sizes_, strides_;
  std::int64_t elements_;
  bool same_;
};

/// Shapes: X and I are N x C x spatial (one to three), y has the shape of MaxPool's input, or the
/// larger `output_shape`.
class MaxUnpool final : public MovingOperator {
 public:
  explicit MaxUnpool(const MaxUnpoolView& view) : attributes_(WindowAttributes::of(view)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape pooled = shape_before(context);
    const auto given = context.integers(MaxUnpoolView::In::output_shape);
    if (given.is_untold()) return {unknown_shape(context.dtype(0))};
    if (!given.given()) return {TensorDesc{context.dtype(0), pooled}};
    const Shape y(given.values());
    bool fits = y.rank() == pooled.rank();
    for (std::size_t d = 0; fits && d < y.rank(); ++d) fits = y[d] >= pooled[d];
    if (!fits) {
      throw ShapeError(fmt::format("{}: output_shape is {}, expected at least {}", context.who(),
                                   to_string(y), to_string(pooled)));
    }
    return {TensorDesc{context.dtype(0), y}};
  }

  Places gradients() const override { return {MaxUnpoolView::In::X}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return detail::moving_kernel_for(context.dtype(0), context, [&]<class T>() {
      return std::make_unique<MaxUnpoolKernel<T>>(shape_before(context), context.output(0).shape);
    });
  }

 private:
  [[nodiscard]] Shape shape_before(const InferContext& context) const {
    const Shape& x = context.shape(MaxUnpoolView::In::X);
    if (context.shape(MaxUnpoolView::In::I) != x) {
      throw ShapeError(fmt::format("{}: X is {} and I is {}, expected equal shapes", context.who(),
                                   to_string(x), to_string(context.shape(MaxUnpoolView::In::I))));
    }
    const Window window = attributes_.resolve_transposed(x, attributes_.kernel(), context.who());
    Shape pooled{x[0], x[1]};
    for (std::size_t i = 3 - window.rank; i < 3; ++i) pooled.push_back(window.axes[i].input);
    (void)pooled.elements();
    return pooled;
  }

  WindowAttributes attributes_;
};

}  // namespace

void register_max_unpool(OperatorRegistry& registry) { registry.add<MaxUnpool, MaxUnpoolView>(); }

}  // namespace d5::ops

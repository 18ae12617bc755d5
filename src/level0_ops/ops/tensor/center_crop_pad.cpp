// SPDX-License-Identifier: Apache-2.0
// CenterCropPad: crops dimensions to their centre, or pads them with zeros on both sides.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5::ops {
namespace {

using CenterCropPadView = onnx::nodes::CenterCropPad;

/// Copies the common part, and its gradient back; all other elements are zero.
class CenterCropPadKernel final : public Kernel {
 public:
  CenterCropPadKernel(DType dtype, const Shape& y, const Shape& x)
      : copy_(dtype, middle(y, x, first_y_, first_x_)) {}

  void forward(OpContext& context) override {
    Tensor& y = context.output(0);
    detail::zero_elements(y);
    copy_.run(detail::element(y, first_y_), detail::element(context.input(0), first_x_));
  }
  void backward(GradContext& context) override {
    Tensor& dx = context.grad_input(0);
    detail::zero_elements(dx);
    copy_.run_back(detail::element(context.grad_output(0), first_y_),
                   detail::element(dx, first_x_));
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  /// Operand 0 is y from its element `first_y`, operand 1 is x from `first_x`.
  static detail::StridedLoop middle(const Shape& y, const Shape& x, std::int64_t& first_y,
                                    std::int64_t& first_x) {
    const auto to = y.strides(), from = x.strides();
    detail::StridedLoop loop(2);
    for (std::size_t d = 0; d < y.rank(); ++d) {
      loop.add(std::min(y[d], x[d]), {to[d], from[d]});
      // For an odd number, the smaller part is first.
      first_y += std::max<std::int64_t>(0, y[d] - x[d]) / 2 * to[d];
      first_x += std::max<std::int64_t>(0, x[d] - y[d]) / 2 * from[d];
    }
    if (loop.elements() == 0) first_y = first_x = 0;
    return loop;
  }

  std::int64_t first_y_ = 0, first_x_ = 0;
  detail::StridedCopy copy_;
};

/// Shapes: one size per axis, or per dimension without axes.
class CenterCropPad final : public MovingOperator {
 public:
  explicit CenterCropPad(const CenterCropPadView& view) : axes_(view.axes()) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    TensorDesc y = context.input(CenterCropPadView::In::input_data);
    std::vector<std::size_t> axes(y.shape.rank());
    std::iota(axes.begin(), axes.end(), 0);
    if (axes_) axes = detail::distinct_axes(*axes_, y.shape.rank(), context.who());
    const auto sizes = context.integers(CenterCropPadView::In::shape);
    const auto given = std::size_t(context.shape(CenterCropPadView::In::shape).elements());
    if (given != axes.size()) {
      throw ShapeError(fmt::format("{}: {} sizes are given for {} dimensions", context.who(), given,
                                   axes.size()));
    }
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const std::int64_t size = sizes.is_untold() ? kUnknownDim : sizes.values()[i];
      if (size < 0 && !sizes.is_untold()) {
        throw ValueError(fmt::format("{}: a size is {}, expected 0 or more", context.who(), size));
      }
      y.shape[axes[i]] = size;
    }
    return {y};
  }

  Places gradients() const override { return {CenterCropPadView::In::input_data}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<CenterCropPadKernel>(context.dtype(0), context.output(0).shape,
                                                 context.shape(0));
  }

 private:
  std::optional<detail::Integers> axes_;
};

}  // namespace

void register_center_crop_pad(OperatorRegistry& registry) {
  registry.add<CenterCropPad, CenterCropPadView>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: y = (x - zero point) * scale.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/quantization.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"
#include "level0_ops/kernels/output_type.hpp"

namespace d5::ops {
namespace {

using DequantizeLinearView = onnx::nodes::DequantizeLinear;

class DequantizeKernel final : public Kernel {
 public:
  DequantizeKernel(PlanContext& context, const detail::ScaleLayout& layout)
      : layout_(layout),
        centering_(context.dtype(DequantizeLinearView::In::x), layout),
        scales_(context.shape(DequantizeLinearView::In::x_scale).elements()),
        read_scales_(context.dtype(DequantizeLinearView::In::x_scale), DType::float64),
        write_(DType::float64, context.output(0).dtype) {
    if (context.has_input(DequantizeLinearView::In::x_zero_point)) {
      read_zeros_.emplace(context.dtype(DequantizeLinearView::In::x_zero_point), DType::float64);
    }
    if (context.wants_backward()) {
      detail::expect_type(FloatTypes{}, context.dtype(DequantizeLinearView::In::x_scale), context,
                          "gradient");
      read_gradient_.emplace(context.output(0).dtype, DType::float64);
      write_gradient_.emplace(DType::float64, context.dtype(DequantizeLinearView::In::x_scale));
    }
    context.request_scratch(sizeof(double) * std::size_t(scales_) * 2);
  }

  void forward(OpContext& context) override {
    double* scales = context.scratch_as<double>();
    read_scales_.run(scales, context.input(DequantizeLinearView::In::x_scale).raw(), scales_);
    const double* zeros = read_zeros(context, scales + scales_);
    const void* x = context.input(DequantizeLinearView::In::x).raw();
    Tensor& y = context.output(0);
    layout_.run(
        [&](std::int64_t element, std::int64_t scale, std::int64_t step, std::int64_t count) {
          std::array<double, detail::kQuantizationPiece> piece;
          for (std::int64_t at = 0; at < count; at += detail::kQuantizationPiece) {
            const std::int64_t length = std::min(detail::kQuantizationPiece, count - at);
            const std::int64_t s = scale + at * step;
            centering_.row(piece.data(), x, zeros, element + at, s, step, length);
            for (std::int64_t i = 0; i < length; ++i) piece[std::size_t(i)] *= scales[s + i * step];
            write_.run(detail::element(y, element + at), piece.data(), length);
          }
        });
  }

  /// A scale's gradient is the sum of (x - zero point) dy over its elements.
  void backward(GradContext& context) override {
    double* sums = context.scratch_as<double>();
    std::fill_n(sums, scales_, 0.0);
    const double* zeros = read_zeros(context, sums + scales_);
    const void* x = context.input(DequantizeLinearView::In::x).raw();
    const Tensor& dy = context.grad_output(0);
    layout_.run_in_order(
        [&](std::int64_t element, std::int64_t scale, std::int64_t step, std::int64_t count) {
          std::array<double, detail::kQuantizationPiece> piece, slope;
          for (std::int64_t at = 0; at < count; at += detail::kQuantizationPiece) {
            const std::int64_t length = std::min(detail::kQuantizationPiece, count - at);
            const std::int64_t s = scale + at * step;
            centering_.row(piece.data(), x, zeros, element + at, s, step, length);
            read_gradient_->run(slope.data(), detail::element(dy, element + at), length);
            for (std::int64_t i = 0; i < length; ++i) {
              sums[s + i * step] += piece[std::size_t(i)] * slope[std::size_t(i)];
            }
          }
        });
    write_gradient_->run(context.grad_input(DequantizeLinearView::In::x_scale).raw(), sums,
                         scales_);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {DequantizeLinearView::In::x,
                                      DequantizeLinearView::In::x_zero_point},
            .backward_reads_outputs = {}};
  }

 private:
  template <class Context>
  const double* read_zeros(const Context& context, double* zeros) const {
    if (!read_zeros_) return nullptr;
    read_zeros_->run(zeros, context.input(DequantizeLinearView::In::x_zero_point).raw(), scales_);
    return zeros;
  }

  detail::ScaleLayout layout_;
  detail::Centering centering_;
  std::int64_t scales_;
  detail::Conversion read_scales_, write_;
  std::optional<detail::Conversion> read_zeros_, read_gradient_, write_gradient_;
};

/// Shapes: y as x; scale and zero point as in `ScaleLayout`.
///
/// x has no gradient, because its type is quantized.
class DequantizeLinear final : public ElementwiseOperator {
 public:
  explicit DequantizeLinear(const DequantizeLinearView& view)
      : axis_(view.axis()), block_size_(view.block_size()) {
    if (view.output_dtype() != 0) {
      type_ = detail::output_type(view.node(), "output_dtype", view.output_dtype());
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)layout(context);
    const TensorDesc& scale = context.input(DequantizeLinearView::In::x_scale);
    if (context.has_input(DequantizeLinearView::In::x_zero_point)) {
      detail::expect_shape_of_scale(context.shape(DequantizeLinearView::In::x_zero_point),
                                    scale.shape, context.who());
    }
    if (!type_ && scale.dtype == DType::float8e8m0) {
      throw TypeError(fmt::format(
          "{}: the scale is float8e8m0, which y cannot be; give output_dtype", context.who()));
    }
    return {TensorDesc{type_.value_or(scale.dtype), context.shape(DequantizeLinearView::In::x)}};
  }

  Places gradients() const override { return {DequantizeLinearView::In::x_scale}; }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<DequantizeKernel>(context, layout(context));
  }

 protected:
  double flop_per_element() const override { return 2; }

 private:
  detail::ScaleLayout layout(const InferContext& context) const {
    return detail::ScaleLayout(context.shape(DequantizeLinearView::In::x),
                               context.shape(DequantizeLinearView::In::x_scale), axis_, block_size_,
                               context.who());
  }

  std::int64_t axis_, block_size_;
  std::optional<DType> type_;
};

}  // namespace

void register_dequantize_linear(OperatorRegistry& registry) {
  registry.add<DequantizeLinear, DequantizeLinearView>();
}

}  // namespace d5::ops

// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DynamicQuantizeLinear: y = saturate(round(x / scale) + zero point).
#include <fmt/format.h>

#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/forward_kernel.hpp"
#include "level0_ops/kernels/matrix/dynamic_range.hpp"
#include "level0_ops/kernels/matrix/quantization.hpp"
#include "level0_ops/kernels/output_type.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;
using QuantizeLinearView = nodes::QuantizeLinear;

class QuantizeKernel final : public Kernel {
 public:
  QuantizeKernel(PlanContext& context, detail::LinearQuantization quantization)
      : quantization_(std::move(quantization)),
        scales_(context.shape(QuantizeLinearView::In::y_scale).elements()),
        read_scales_(context.dtype(QuantizeLinearView::In::y_scale), DType::float64) {
    if (context.has_input(QuantizeLinearView::In::y_zero_point)) {
      read_zeros_.emplace(context.dtype(QuantizeLinearView::In::y_zero_point), DType::float64);
    }
    context.request_scratch(sizeof(double) * std::size_t(scales_) * (read_zeros_ ? 2 : 1));
  }

  void forward(OpContext& context) override {
    double* scales = context.scratch_as<double>();
    read_scales_.run(scales, context.input(QuantizeLinearView::In::y_scale).raw(), scales_);
    double* zeros = read_zeros_ ? scales + scales_ : nullptr;
    if (zeros)
      read_zeros_->run(zeros, context.input(QuantizeLinearView::In::y_zero_point).raw(), scales_);
    quantization_.run(context.output(0).raw(), context.input(0).raw(), scales, zeros);
  }

 private:
  detail::LinearQuantization quantization_;
  std::int64_t scales_;
  detail::Conversion read_scales_;
  std::optional<detail::Conversion> read_zeros_;
};

/// Shapes: y as x; scale and zero point as in `ScaleLayout`.
///
/// There is no gradient, because it is zero wherever it is defined.
class QuantizeLinear final : public ElementwiseOperator {
 public:
  explicit QuantizeLinear(const QuantizeLinearView& view)
      : axis_(view.axis()),
        block_size_(view.block_size()),
        overflow_(view.saturate() != 0 ? Overflow::saturate : Overflow::to_infinity),
        precision_(DType(view.precision())) {
    if (view.output_dtype() != 0) {
      type_ = detail::output_type(view.node(), "output_dtype", view.output_dtype());
    }
    if (precision_ != DType::undefined && precision_ != DType::float32 &&
        precision_ != DType::float16 && precision_ != DType::bfloat16) {
      throw ValueError(
          fmt::format("{}: precision is {}, expected {} (float32), {} (float16) or {} (bfloat16)",
                      onnx::describe(view.node()), int(precision_), int(DType::float32),
                      int(DType::float16), int(DType::bfloat16)));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = context.shape(QuantizeLinearView::In::x);
    (void)layout(context);
    if (!context.has_input(QuantizeLinearView::In::y_zero_point)) {
      return {TensorDesc{type_.value_or(DType::uint8), x}};
    }
    const TensorDesc& zero = context.input(QuantizeLinearView::In::y_zero_point);
    detail::expect_shape_of_scale(zero.shape, context.shape(QuantizeLinearView::In::y_scale),
                                  context.who());
    if (type_ && *type_ != zero.dtype) {
      throw TypeError(
          fmt::format("{}: output_dtype is {} but the zero point is {}; give one of them",
                      context.who(), name_of(*type_), name_of(zero.dtype)));
    }
    return {TensorDesc{zero.dtype, x}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<QuantizeKernel>(
        context, detail::LinearQuantization(
                     context.dtype(QuantizeLinearView::In::x),
                     precision(context.dtype(QuantizeLinearView::In::y_scale)),
                     detail::Quantizer(context.output(0).dtype, overflow_), layout(context)));
  }

 protected:
  double flop_per_element() const override { return 3; }  // divide, round, add

 private:
  detail::ScaleLayout layout(const InferContext& context) const {
    return detail::ScaleLayout(context.shape(QuantizeLinearView::In::x),
                               context.shape(QuantizeLinearView::In::y_scale), axis_, block_size_,
                               context.who());
  }
  /// The type of the quotient: the scale's; powers of two divide floats exactly.
  DType precision(DType scale) const {
    if (precision_ != DType::undefined) return precision_;
    return scale == DType::float8e8m0 ? DType::float32
           : scale == DType::int32    ? DType::float64
                                      : scale;
  }

  std::int64_t axis_, block_size_;
  Overflow overflow_;
  std::optional<DType> type_;
  DType precision_;  // undefined: the scale's type
};

/// Shapes: y as x, scale and zero point are scalars. If all of x is zero, the range is 1.
class DynamicQuantizeLinear final : public ElementwiseOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{DType::uint8, context.shape(0)}, TensorDesc{DType::float32, {}},
            TensorDesc{DType::uint8, {}}};
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const detail::LinearQuantization quantization(DType::float32, DType::float32,
                                                  detail::Quantizer(DType::uint8),
                                                  detail::ScaleLayout(context.shape(0), Shape()));
    return detail::forward_kernel([quantization](OpContext& run) {
      using Out = nodes::DynamicQuantizeLinear::Out;
      const auto range = detail::DynamicRange::of(run.input(0).span<float>());
      const double scale = range.scale, zero = range.zero;
      quantization.run(run.output(Out::y).raw(), run.input(0).raw(), &scale, &zero);
      *run.output(Out::y_scale).data<float>() = range.scale;
      *run.output(Out::y_zero_point).data<std::uint8_t>() = std::uint8_t(range.zero);
    });
  }

 protected:
  double flop_per_element() const override { return 5; }  // and two comparisons
};

}  // namespace

void register_quantize_linear(OperatorRegistry& registry) {
  registry.add<QuantizeLinear, QuantizeLinearView>();
  registry.add<DynamicQuantizeLinear, nodes::DynamicQuantizeLinear>();
}

}  // namespace d5::ops

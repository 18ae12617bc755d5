// SPDX-License-Identifier: Apache-2.0
// ConvInteger and QLinearConv: convolutions of quantized numbers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/matrix/integer_product.hpp"
#include "level0_ops/kernels/window/column_convolution.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;
using detail::ConvolutionSizes;

/// The product of an integer kernel.
class ConvolutionProduct {
 public:
  ConvolutionProduct(const ConvolutionSizes& sizes, std::optional<std::size_t> bias = {})
      : convolution_(sizes), bias_(bias) {}

  std::int64_t scratch_length() const {
    return convolution_.scratch_length() + (bias_ ? convolution_.filters() : 0);
  }
  void run(const OpContext& context, const double* x, const double* w, double* y,
           double* scratch) const {
    double* bias = bias_ ? scratch + convolution_.scratch_length() : nullptr;
    if (bias) std::ranges::copy(context.input(*bias_).span<std::int32_t>(), bias);
    convolution_.forward(x, w, bias, y, scratch);
  }

 private:
  detail::ColumnConvolution<double> convolution_;
  std::optional<std::size_t> bias_;
};

/// Common base of both operators. Padding is the number zero, not the element zero.
class IntegerConvolution : public Operator {
 public:
  template <class View>
  explicit IntegerConvolution(const View& view)
      : attributes_(WindowAttributes::of(view)), group_(view.group()) {
    detail::expect_group(group_, view.node());
  }

 protected:
  ConvolutionSizes sizes(const InferContext& context, std::size_t x, std::size_t w) const {
    return detail::convolution_sizes(context.shape(x), context.shape(w), attributes_, group_,
                                     context.who());
  }
  Shape output_shape(const ConvolutionSizes& s) const {
    return s.window.output_shape(s.batch, s.filters * group_);
  }

  /// Checks that input `i`, if present, is a scalar. Throws: ShapeError.
  static void expect_one_number(const InferContext& context, std::size_t i) {
    if (!context.has_input(i) || detail::is_one_number(context.shape(i))) return;
    throw ShapeError(fmt::format("{}: {} is {}, expected one number", context.who(),
                                 onnx::describe_input(context.node(), i),
                                 to_string(context.shape(i))));
  }
  /// The shape of input `i`, a scalar or one number per filter of w, broadcastable to dimensions
  /// with the filters at `axis`. Throws: ShapeError.
  static Shape along_filters(const InferContext& context, std::size_t i, std::size_t w,
                             std::size_t axis) {
    if (!context.has_input(i) || detail::is_one_number(context.shape(i))) return {};
    const Shape& filters = context.shape(w);
    if (context.shape(i) != Shape{filters[0]}) {
      throw ShapeError(fmt::format("{}: {} is {}, expected one number or {}, one for each filter",
                                   context.who(), onnx::describe_input(context.node(), i),
                                   to_string(context.shape(i)), filters[0]));
    }
    Shape result(std::vector<std::int64_t>(filters.rank(), 1));
    result[axis] = filters[0];
    return result;
  }

 private:
  WindowAttributes attributes_;
  std::int64_t group_;
};

/// Shapes: as Conv; the zero point of x is one number, that of w one or one per filter.
class ConvInteger final : public IntegerConvolution {
  using In = nodes::ConvInteger::In;

 public:
  explicit ConvInteger(const nodes::ConvInteger& view) : IntegerConvolution(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    expect_one_number(context, In::x_zero_point);
    const ConvolutionSizes s = sizes(context, In::x, In::w);
    (void)along_filters(context, In::w_zero_point, In::w, 0);
    return {TensorDesc{DType::int32, output_shape(s)}};
  }
  Cost cost(const InferContext& context) const override {
    return with_flop(context, detail::convolution_flop(sizes(context, In::x, In::w)));
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<detail::IntegerProductKernel<ConvolutionProduct>>(
        context, detail::CentredInput(context, In::x, In::x_zero_point, {}),
        detail::CentredInput(context, In::w, In::w_zero_point,
                             along_filters(context, In::w_zero_point, In::w, 0)),
        ConvolutionProduct(sizes(context, In::x, In::w)));
  }
};

/// Shapes: as Conv; scales and zero points are one number, those of w one or one per filter.
class QLinearConv final : public IntegerConvolution {
  using In = nodes::QLinearConv::In;

 public:
  explicit QLinearConv(const nodes::QLinearConv& view) : IntegerConvolution(view) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (const std::size_t i : {In::x_scale, In::x_zero_point, In::y_scale, In::y_zero_point}) {
      expect_one_number(context, i);
    }
    const ConvolutionSizes s = sizes(context, In::x, In::w);
    (void)along_filters(context, In::w_scale, In::w, 1);
    (void)along_filters(context, In::w_zero_point, In::w, 0);
    const Shape bias{context.shape(In::w)[0]};
    if (context.has_input(In::B) && context.shape(In::B) != bias) {
      throw ShapeError(fmt::format("{}: B is {}, expected {}, one per filter", context.who(),
                                   to_string(context.shape(In::B)), to_string(bias)));
    }
    return {TensorDesc{context.dtype(In::y_zero_point), output_shape(s)}};
  }
  /// In addition to the convolution, a product and a sum per element.
  Cost cost(const InferContext& context) const override {
    const ConvolutionSizes s = sizes(context, In::x, In::w);
    return with_flop(context, detail::convolution_flop(s) + 2 * double(output_shape(s).elements()));
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const std::optional<std::size_t> bias =
        context.has_input(In::B) ? std::optional<std::size_t>(In::B) : std::nullopt;
    return std::make_unique<detail::IntegerProductKernel<ConvolutionProduct>>(
        context, detail::CentredInput(context, In::x, In::x_zero_point, {}),
        detail::CentredInput(context, In::w, In::w_zero_point,
                             along_filters(context, In::w_zero_point, In::w, 0)),
        ConvolutionProduct(sizes(context, In::x, In::w), bias),
        detail::Requantization(context, In::x_scale, {}, In::w_scale,
                               along_filters(context, In::w_scale, In::w, 1), In::y_scale,
                               In::y_zero_point));
  }
};

}  // namespace

void register_integer_conv(OperatorRegistry& registry) {
  registry.add<ConvInteger, nodes::ConvInteger>();
  registry.add<QLinearConv, nodes::QLinearConv>();
}

}  // namespace d5::ops

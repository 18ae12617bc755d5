// SPDX-License-Identifier: Apache-2.0
// Products of bytes in quantized networks: r = scale (q - zero_point).
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "matrix_product.hpp"
#include "onednn_kernel.hpp"
#include "onednn_window.hpp"

namespace d5::onednn {
namespace {

namespace nodes = onnx::nodes;

/// A product with scales and zero points from the node's inputs.
class Quantized : public OneDnnKernel {
 protected:
  using OneDnnKernel::OneDnnKernel;

  /// Input `i` is the scale of the primitive's argument `name`; with several numbers, along the
  /// first `split` dimensions.
  void add_scale(int name, std::size_t i, int split = 1) {
    const bool is_single = context().input(i).elements() == 1;
    attributes_.set_scales_mask(name, is_single ? 0 : (1 << split) - 1);
    reads_.push_back({DNNL_ARG_ATTR_SCALES | name, input(i)});
  }
  /// Uses input `i` as the zero point of the primitive's argument `name`.
  void add_zero_point(int name, std::size_t i) {
    if (!context().has_input(i)) return;
    if (context().input(i).elements() != 1) {
      throw Unsupported(context().who() + ": oneDNN has one zero point per tensor");
    }
    const Argument point = forward_.scratch(rows(Dims{1}, dnnl::memory::data_type::s32));
    forward_.reorder(input(i).as(rows(Dims{1}, data_type(context().dtype(i)))), point);
    attributes_.set_zero_points_mask(name, 0);
    reads_.push_back({DNNL_ARG_ATTR_ZERO_POINTS | name, point});
  }
  /// Throws: Unsupported unless input `i` is missing or known to be zero.
  void expect_zero(std::size_t i) const {
    if (!context().has_input(i)) return;
    const Tensor* points = context().constant(i);
    bool is_zero = points != nullptr;
    for (std::int64_t k = 0; is_zero && k < points->elements(); ++k) {
      is_zero = static_cast<const std::uint8_t*>(points->raw())[k] == 0;
    }
    if (is_zero) return;
    throw Unsupported(context().who() + ": weights of convolutions have no zero point in oneDNN");
  }

  dnnl::primitive_attr attributes_ = attributes();
  std::vector<Pass::Bound> reads_;
};

/// Shapes: as Conv's. `x` and `w` are input indices.
class QuantizedConv : public Quantized {
 protected:
  using Quantized::Quantized;

  template <class View>
  void add_convolution(std::size_t x, std::size_t w, const Argument* bias) {
    using Forward = dnnl::convolution_forward::primitive_desc;
    const View view(context().node());
    const OneDnnWindow window =
        OneDnnWindow::of_convolution(view, context().shape(x), context().shape(w));
    const Desc x_desc = rows(context().input(x)),
               w_desc = grouped(context().input(w), view.group());
    const Desc y_desc = rows(context().output(0));
    const auto kind = dnnl::prop_kind::forward_inference;
    const auto algorithm = dnnl::algorithm::convolution_auto;
    const Forward forward(engine(), kind, algorithm, any(x_desc), any(w_desc),
                          bias ? bias->desc : Desc(), any(y_desc), window.strides, window.dilations,
                          window.begin, window.end, attributes_);
    reads_.push_back({DNNL_ARG_SRC, input_in(x, x_desc, forward.src_desc())});
    reads_.push_back({DNNL_ARG_WEIGHTS, input_in(w, w_desc, forward.weights_desc())});
    if (bias) reads_.push_back({DNNL_ARG_BIAS, *bias});
    forward_.add(forward, reads_, {{DNNL_ARG_DST, output_in(0, forward.dst_desc())}});
  }
};

class ConvInteger final : public QuantizedConv {
  using In = nodes::ConvInteger::In;

 public:
  explicit ConvInteger(PlanContext& context) : QuantizedConv(context) {
    expect_zero(In::w_zero_point);
    add_zero_point(DNNL_ARG_SRC, In::x_zero_point);
    add_convolution<nodes::ConvInteger>(In::x, In::w, nullptr);
  }
};

class QLinearConv final : public QuantizedConv {
  using View = nodes::QLinearConv;
  using In = View::In;

 public:
  explicit QLinearConv(PlanContext& context) : QuantizedConv(context) {
    expect_zero(In::w_zero_point);
    add_scale(DNNL_ARG_SRC, In::x_scale);
    add_scale(DNNL_ARG_WEIGHTS, In::w_scale, View(context.node()).group() == 1 ? 1 : 2);
    add_scale(DNNL_ARG_DST, In::y_scale);
    add_zero_point(DNNL_ARG_SRC, In::x_zero_point);
    add_zero_point(DNNL_ARG_DST, In::y_zero_point);
    const bool has_bias = context.has_input(In::B);
    const Argument bias = has_bias ? real_bias() : input(In::x);
    add_convolution<View>(In::x, In::w, has_bias ? &bias : nullptr);
  }

 private:
  /// The bias in real numbers, as oneDNN adds it; ONNX quantizes it with the product of both
  /// scales.
  Argument real_bias() {
    const Argument bias =
        forward_.scratch(rows({context().input(In::B).elements()}, dnnl::memory::data_type::f32));
    forward_.reorder(input(In::B), bias);
    for (const std::size_t scale : {std::size_t{In::x_scale}, std::size_t{In::w_scale}}) {
      const Argument factor =
          input(scale).as(rows({context().input(scale).elements()}, dnnl::memory::data_type::f32));
      forward_.add(dnnl::binary::primitive_desc(engine(), dnnl::algorithm::binary_mul, bias.desc,
                                                factor.desc, bias.desc, attributes()),
                   {{DNNL_ARG_SRC_0, bias}, {DNNL_ARG_SRC_1, factor}}, {{DNNL_ARG_DST, bias}});
    }
    return bias;
  }
};

/// Shapes: as MatMul's. `a` and `b` are input indices.
class QuantizedMatMul : public Quantized {
 protected:
  using Quantized::Quantized;

  void add_matmul(std::size_t a, std::size_t b) {
    const ProductDescs descs(context().input(a), context().input(b), context().output(0));
    const dnnl::matmul::primitive_desc matmul(engine(), descs.a, descs.b, descs.y, attributes_);
    reads_.push_back({DNNL_ARG_SRC, input(a).as(descs.a)});
    reads_.push_back({DNNL_ARG_WEIGHTS, input(b).as(descs.b)});
    forward_.add(matmul, reads_, {{DNNL_ARG_DST, output(0).as(descs.y)}});
  }
};

class MatMulInteger final : public QuantizedMatMul {
  using In = nodes::MatMulInteger::In;

 public:
  explicit MatMulInteger(PlanContext& context) : QuantizedMatMul(context) {
    add_zero_point(DNNL_ARG_SRC, In::a_zero_point);
    add_zero_point(DNNL_ARG_WEIGHTS, In::b_zero_point);
    add_matmul(In::A, In::B);
  }
};

class QLinearMatMul final : public QuantizedMatMul {
  using In = nodes::QLinearMatMul::In;

 public:
  explicit QLinearMatMul(PlanContext& context) : QuantizedMatMul(context) {
    for (const std::size_t i :
         {std::size_t{In::a_scale}, std::size_t{In::b_scale}, std::size_t{In::y_scale}}) {
      if (context.input(i).elements() == 1 && context.dtype(i) == DType::float32) continue;
      throw Unsupported(context.who() + ": oneDNN has one float32 scale per matrix");
    }
    add_scale(DNNL_ARG_SRC, In::a_scale);
    add_scale(DNNL_ARG_WEIGHTS, In::b_scale);
    add_scale(DNNL_ARG_DST, In::y_scale);
    add_zero_point(DNNL_ARG_SRC, In::a_zero_point);
    add_zero_point(DNNL_ARG_WEIGHTS, In::b_zero_point);
    add_zero_point(DNNL_ARG_DST, In::y_zero_point);
    add_matmul(In::a, In::b);
  }
};

/// Requires a signed second operand; `w` is its index.
template <std::size_t w>
Support signed_weights(const PlanContext& context) {
  if (context.dtype(w) != DType::int8) return {"weights other than int8"};
  return numbers(context);
}

}  // namespace

void register_quantized(OperatorRegistry& registry) {
  add<ConvInteger, nodes::ConvInteger>(registry, signed_weights<nodes::ConvInteger::In::w>);
  add<QLinearConv, nodes::QLinearConv>(registry, signed_weights<nodes::QLinearConv::In::w>);
  add<MatMulInteger, nodes::MatMulInteger>(registry, signed_weights<nodes::MatMulInteger::In::B>);
  add<QLinearMatMul, nodes::QLinearMatMul>(registry, signed_weights<nodes::QLinearMatMul::In::b>);
}

}  // namespace d5::onednn

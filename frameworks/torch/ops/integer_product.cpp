// SPDX-License-Identifier: Apache-2.0
// Products of quantized matrices and convolutions of quantized tensors. The sums are integers below
// 2^53, which torch's products of doubles compute exactly.
#include <ATen/ops/convolution.h>
#include <ATen/ops/matmul.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_quantization.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

bool is_one_number(const at::Tensor& x) { return x.dim() <= 1 && x.numel() == 1; }

/// Input `i` minus its zero point, which `over` broadcasts to it.
template <class Over>
at::Tensor centred(Inputs inputs, std::size_t i, std::size_t zero, const Over& over) {
  const at::Tensor x = inputs[i].to(at::kDouble);
  const auto offset = given(inputs, zero);
  return offset ? x - over(offset->to(at::kDouble)) : x;
}

/// Sums as int32, with wrap-around.
at::Tensor wrapped(const at::Tensor& sums) { return sums.to(at::kLong).to(at::kInt); }

/// A parameter of a's rows: one number, a list, or a tensor like a with size 1 in the last
/// dimension.
at::Tensor of_rows(const at::Tensor& x) {
  if (is_one_number(x)) return x.reshape({});
  return x.dim() == 1 ? x.unsqueeze(1) : x;
}
at::Tensor of_columns(const at::Tensor& x) { return is_one_number(x) ? x.reshape({}) : x; }

class MatMulInteger final : public TorchKernel {
  using In = nodes::MatMulInteger::In;

 public:
  using TorchKernel::TorchKernel;

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = wrapped(at::matmul(centred(inputs, In::A, In::a_zero_point, of_rows),
                                    centred(inputs, In::B, In::b_zero_point, of_columns)));
  }
};

class QLinearMatMul final : public TorchKernel {
  using In = nodes::QLinearMatMul::In;

 public:
  explicit QLinearMatMul(const PlanContext& context)
      : TorchKernel(context), type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor sums = at::matmul(centred(inputs, In::a, In::a_zero_point, of_rows),
                                       centred(inputs, In::b, In::b_zero_point, of_columns));
    const at::Tensor scale = of_rows(inputs[In::a_scale].to(at::kDouble)) *
                             of_columns(inputs[In::b_scale].to(at::kDouble)) /
                             inputs[In::y_scale].to(at::kDouble).reshape({});
    results[0] = quantized(sums * scale, inputs[In::y_zero_point].to(at::kDouble).reshape({}),
                           type_, /*saturates=*/true);
  }

 private:
  at::ScalarType type_;
};

/// If an operand is a vector, its own scale would have to lose a dimension.
Support multiplies(const PlanContext& context) {
  using In = nodes::QLinearMatMul::In;
  if (context.shape(In::a).rank() < 2 || context.shape(In::b).rank() < 2) {
    return {"QLinearMatMul of a vector"};
  }
  return computes(context);
}

/// Padding has the value zero, not the zero element.
class IntegerConvolution {
 public:
  template <class View>
  IntegerConvolution(const View& view, const Shape& x, const Shape& w, const PlanContext& context)
      : group_(view.group()), window_(resolve(WindowAttributes::of(view), x, w, context)) {}

  [[nodiscard]] at::Tensor sums(const at::Tensor& x, const at::Tensor& w,
                                const std::optional<at::Tensor>& bias) const {
    return at::convolution(window_.pad(x, 0), w, bias, window_.strides, window_.zeros,
                           window_.dilations, /*transposed=*/false, window_.zeros, group_);
  }
  /// One number, or one for each filter, along `axis`.
  [[nodiscard]] static auto along_filters(const at::Tensor& w, std::size_t axis) {
    return [rank = std::size_t(w.dim()), axis](const at::Tensor& x) {
      if (is_one_number(x)) return x.reshape({});
      at::DimVector sizes(rank, 1);
      sizes[axis] = x.numel();
      return x.reshape(sizes);
    };
  }

 private:
  static TorchWindow resolve(const WindowAttributes& attributes, const Shape& x, const Shape& w,
                             const PlanContext& context) {
    const auto kernel = w.dims().subspan(2);
    const Window window = attributes.resolve(x, {kernel.begin(), kernel.end()}, context.who());
    return {window, window.rank};
  }

  std::int64_t group_;
  TorchWindow window_;
};

class ConvInteger final : public TorchKernel {
  using View = nodes::ConvInteger;
  using In = View::In;

 public:
  explicit ConvInteger(const PlanContext& context)
      : TorchKernel(context),
        convolution_(View(node()), context.shape(In::x), context.shape(In::w), context) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const auto filters = IntegerConvolution::along_filters(inputs[In::w], 0);
    results[0] = wrapped(convolution_.sums(centred(inputs, In::x, In::x_zero_point, filters),
                                           centred(inputs, In::w, In::w_zero_point, filters), {}));
  }

 private:
  IntegerConvolution convolution_;
};

class QLinearConv final : public TorchKernel {
  using View = nodes::QLinearConv;
  using In = View::In;

 public:
  explicit QLinearConv(const PlanContext& context)
      : TorchKernel(context),
        convolution_(View(node()), context.shape(In::x), context.shape(In::w), context),
        type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const auto filters = IntegerConvolution::along_filters(inputs[In::w], 0);
    const auto channels = IntegerConvolution::along_filters(inputs[In::w], 1);
    auto bias = given(inputs, In::B);
    if (bias) bias = bias->to(at::kDouble);
    const at::Tensor sums =
        convolution_.sums(centred(inputs, In::x, In::x_zero_point, filters),
                          centred(inputs, In::w, In::w_zero_point, filters), bias);
    const at::Tensor scale = inputs[In::x_scale].to(at::kDouble).reshape({}) *
                             channels(inputs[In::w_scale].to(at::kDouble)) /
                             inputs[In::y_scale].to(at::kDouble).reshape({});
    results[0] = quantized(sums * scale, inputs[In::y_zero_point].to(at::kDouble).reshape({}),
                           type_, /*saturates=*/true);
  }

 private:
  IntegerConvolution convolution_;
  at::ScalarType type_;
};

}  // namespace

void register_integer_product(OperatorRegistry& registry) {
  add<MatMulInteger, nodes::MatMulInteger>(registry, computes);
  add<QLinearMatMul, nodes::QLinearMatMul>(registry, multiplies);
  add<ConvInteger, nodes::ConvInteger>(registry, computes_some);
  add<QLinearConv, nodes::QLinearConv>(registry, computes_some);
}

}  // namespace d5::torch

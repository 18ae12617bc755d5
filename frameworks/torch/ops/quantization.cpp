// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear, DynamicQuantizeLinear and DequantizeLinear: a quantized number q represents (q -
// zero point) * scale.
#include <ATen/ops/clamp.h>
#include <ATen/ops/round.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_quantization.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// One scale for all, one per index along an axis, or one per block of adjacent indices.
class ScaleLayout {
 public:
  ScaleLayout(const PlanContext& context, std::int64_t axis, std::int64_t block_size)
      : block_size_(block_size) {
    const Shape &x = context.shape(0), &scale = context.shape(1);
    single_ = scale.rank() <= 1 && scale.elements() == 1;
    if (single_) return;
    axis_ = front(axis, context);
    size_ = x[std::size_t(axis_)];
    list_.assign(x.rank(), 1);
    list_[std::size_t(axis_)] = size_;
  }

  /// A scale or a zero point, broadcast to x.
  [[nodiscard]] at::Tensor over(const at::Tensor& scale) const {
    if (single_) return scale.reshape({});
    if (block_size_ == 0) return scale.reshape(list_);
    return scale.repeat_interleave(block_size_, axis_).narrow(axis_, 0, size_);
  }

 private:
  bool single_;
  std::int64_t block_size_, axis_ = 0, size_ = 0;
  Sizes list_;
};

/// Shapes: y as x.
class QuantizeLinear final : public TorchKernel {
  using View = nodes::QuantizeLinear;

 public:
  explicit QuantizeLinear(const PlanContext& context)
      : TorchKernel(context),
        layout_(context, View(node()).axis(), View(node()).block_size()),
        type_(scalar_type(context.output(0).dtype)),
        saturates_(View(node()).saturate() != 0) {
    const auto precision = static_cast<DType>(View(node()).precision());
    const DType scale = context.dtype(View::In::y_scale);
    precision_ = precision != DType::undefined ? scalar_type(precision)
                 : scale == DType::int32       ? at::kDouble  // divides integers exactly
                                               : scalar_type(scale);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor scale = layout_.over(inputs[View::In::y_scale].to(precision_));
    const at::Tensor quotient = (inputs[View::In::x].to(precision_) / scale).to(at::kDouble);
    const auto zero = given(inputs, View::In::y_zero_point);
    results[0] = quantized(quotient, zero ? layout_.over(zero->to(at::kDouble)) : at::Tensor(),
                           type_, saturates_);
  }

 private:
  ScaleLayout layout_;
  at::ScalarType type_, precision_;
  bool saturates_;
};

/// Shapes: y as x.
class DequantizeLinear final : public TorchKernel {
  using View = nodes::DequantizeLinear;

 public:
  explicit DequantizeLinear(const PlanContext& context)
      : TorchKernel(context),
        layout_(context, View(node()).axis(), View(node()).block_size()),
        type_(scalar_type(context.output(0).dtype)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor x = inputs[View::In::x].to(at::kDouble);
    if (const auto zero = given(inputs, View::In::x_zero_point)) {
      x = x - layout_.over(zero->to(at::kDouble));
    }
    results[0] = (x * layout_.over(inputs[View::In::x_scale].to(at::kDouble))).to(type_);
  }

 private:
  ScaleLayout layout_;
  at::ScalarType type_;
};

/// Computes scale and zero point from x's range, extended to include zero.
class DynamicQuantizeLinear final : public TorchKernel {
  using Out = nodes::DynamicQuantizeLinear::Out;

 public:
  using TorchKernel::TorchKernel;

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    const float least = std::min(x.min().item<float>(), 0.0f);
    const float largest = std::max(x.max().item<float>(), 0.0f);
    const float scale = (least == largest ? 1.0f : largest - least) / 255.0f;
    const at::Tensor zero =
        at::round(at::clamp(at::scalar_tensor(0.0f - least / scale, at::kDouble), 0, 255));
    results[Out::y] = quantized((x / scale).to(at::kDouble), zero, at::kByte, true);
    if (results.size() > Out::y_scale) results[Out::y_scale] = at::scalar_tensor(scale, at::kFloat);
    if (results.size() > Out::y_zero_point) results[Out::y_zero_point] = zero.to(at::kByte);
  }
};

Support quantizes(const PlanContext& context) {
  const DType scale = context.dtype(1);
  if (!is_floating_point(scale) && scale != DType::int32) {
    return {context.node().op_type + " with a scale of " + std::string(name_of(scale))};
  }
  return converts(context);
}

}  // namespace

void register_quantization(OperatorRegistry& registry) {
  add<QuantizeLinear, nodes::QuantizeLinear>(registry, quantizes);
  add<DequantizeLinear, nodes::DequantizeLinear>(registry, quantizes);
  add<DynamicQuantizeLinear, nodes::DynamicQuantizeLinear>(registry, computes_some);
}

}  // namespace d5::torch

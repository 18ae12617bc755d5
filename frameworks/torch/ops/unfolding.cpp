// SPDX-License-Identifier: Apache-2.0
// Inverse windows: Col2Im adds columns up to an image, MaxUnpool puts elements back.
#include <ATen/ops/col2im.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/scatter.h>
#include <ATen/ops/zeros.h>

#include "d5/level0_ops/operator/window.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// Shapes: x N,C block,blocks; y N,C,image. One dimension is treated as the second of two. Torch's
/// image includes the padding, which is cropped.
class Col2Im final : public TorchKernel {
  using View = nodes::Col2Im;

 public:
  explicit Col2Im(const PlanContext& context) : TorchKernel(context), window_(resolve(context)) {
    const Shape& y = context.output(0).shape;
    for (std::size_t d = 2; d < y.rank(); ++d) {
      begin_.push_back(window_.begin[window_.begin.size() + d - y.rank()]);
    }
    sizes_ = sizes_of(y).vec();
    image_.assign(2, 1);
    for (std::size_t i = 0; i < image_.size(); ++i) {
      const std::size_t d = y.rank() + i - 2;
      image_[i] = (d < 2 ? 1 : y[d]) + window_.begin[i] + window_.end[i];
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    at::Tensor y = at::col2im(inputs[View::In::input], image_, window_.kernel, window_.dilations,
                              window_.zeros, window_.strides);
    if (sizes_.size() == 3) y = y.squeeze(2);
    for (std::size_t i = 0; i < begin_.size(); ++i) {
      y = y.narrow(std::int64_t(i) + 2, begin_[i], sizes_[i + 2]);
    }
    results[0] = y;
  }

 private:
  static TorchWindow resolve(const PlanContext& context) {
    const View view(context.node());
    const Window window = WindowAttributes::of(view).resolve(
        context.output(0).shape, context.integers(View::In::block_shape).values(), context.who());
    return {window, 2};
  }

  TorchWindow window_;
  Sizes begin_, sizes_, image_;
};

Support folds(const PlanContext& context) {
  if (context.output(0).shape.rank() > 4) return {"Col2Im over more than two dimensions"};
  if (!is_floating_point(context.dtype(0))) {
    return {"Col2Im on " + std::string(name_of(context.dtype(0)))};
  }
  return computes_some(context);
}

/// An index refers to the shape before pooling, which is the first corner of y.
class MaxUnpool final : public TorchKernel {
  using View = nodes::MaxUnpool;

 public:
  explicit MaxUnpool(const PlanContext& context) : TorchKernel(context) {
    const Shape &x = context.shape(View::In::X), &y = context.output(0).shape;
    const auto attributes = WindowAttributes::of(View(node()));
    const Window window = attributes.resolve_transposed(x, attributes.kernel(), context.who());
    pooled_ = {x[0], x[1]};
    for (std::size_t i = 3 - window.rank; i < 3; ++i) pooled_.push_back(window.axes[i].input);
    for (std::size_t d = y.rank(); d-- > 0;) {  // torch: last dimension first
      amounts_.insert(amounts_.end(), {0, y[d] - pooled_[d]});
      elements_ *= pooled_[d];
    }
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[View::In::X];
    const at::Tensor places = inputs[View::In::I].reshape({-1});
    const at::Tensor pooled =
        at::scatter(at::zeros({elements_}, x.options()), 0, places, x.reshape({-1}));
    results[0] = at::constant_pad_nd(pooled.reshape(pooled_), amounts_, 0);
  }

 private:
  Sizes pooled_, amounts_;
  std::int64_t elements_ = 1;
};

}  // namespace

void register_unfolding(OperatorRegistry& registry) {
  add<Col2Im, nodes::Col2Im>(registry, folds);
  add<MaxUnpool, nodes::MaxUnpool>(registry, stores);
}

}  // namespace d5::torch

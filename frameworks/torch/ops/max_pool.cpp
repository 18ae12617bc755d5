// SPDX-License-Identifier: Apache-2.0
// The largest element under a window, 1 to 3 spatial dimensions, or of all elements.
#include <ATen/core/DimVector.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/div.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max.h>
#include <ATen/ops/max_pool2d_with_indices.h>
#include <ATen/ops/max_pool2d_with_indices_backward.h>
#include <ATen/ops/max_pool3d_with_indices.h>
#include <ATen/ops/max_pool3d_with_indices_backward.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

using MaxPoolView = onnx::nodes::MaxPool;

/// Smaller than every element, so that padding never wins.
at::Scalar lowest(at::ScalarType type) {
  switch (type) {
    case at::kByte:
      return 0;
    case at::kChar:
      return std::numeric_limits<std::int8_t>::lowest();
    case at::kLong:
      return std::numeric_limits<std::int64_t>::lowest();
    case at::kInt:
      return std::numeric_limits<std::int32_t>::lowest();
    default:
      return -std::numeric_limits<double>::infinity();
  }
}

/// Shapes: x N,C,spatial; y and Indices N,C,outputs.
class MaxPool final : public TorchKernel {
 public:
  explicit MaxPool(PlanContext& context)
      : TorchKernel(context),
        window_(TorchWindow::of_pooling(MaxPoolView(node()), context)),
        padding_(window_.pools ? window_.begin : window_.zeros),
        ceil_mode_(window_.pools && window_.ceil_mode),
        column_major_(MaxPoolView(node()).storage_order() == 1),
        direct_(window_.pools && !context.wants_output(MaxPoolView::Out::Indices)),
        saves_(direct_ && context.wants_backward()) {
    if (window_.aside && context.wants_output(MaxPoolView::Out::Indices)) {
      throw Unsupported(context.who() +
                        ": torch gives no index for a window that covers only padding");
    }
    if (saves_) context.save({DType::int64, context.output(0).shape});
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = lifted(inputs[0]);
    const at::Tensor padded = window_.pools ? x : window_.pad(x, lowest(x.scalar_type()));
    const auto pool =
        window_.kernel.size() == 3 ? &at::max_pool3d_with_indices : &at::max_pool2d_with_indices;
    auto [y, indices] =
        pool(padded, window_.kernel, window_.strides, padding_, window_.dilations, ceil_mode_);
    const bool flat = inputs[0].dim() == 3;
    results[0] = flat ? y.squeeze(2) : y;
    if (results.size() < 2) return;
    indices = whole_tensor_indices(indices, x, padded);
    results[MaxPoolView::Out::Indices] = flat ? indices.squeeze(2) : indices;
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchKernel::run(context);
    at::Tensor y = lifted(out(context, 0));
    if (!saves_ && !indices_.defined()) indices_ = at::empty_like(y, at::kLong);
    at::Tensor indices = saves_ ? lifted(saved(context, 0)) : indices_;
    const auto pool = window_.kernel.size() == 3 ? &at::max_pool3d_with_indices_out
                                                 : &at::max_pool2d_with_indices_out;
    pool(y, indices, lifted(in(context, 0)), window_.kernel, window_.strides, padding_,
         window_.dilations, ceil_mode_);
  }

  void differentiate(GradContext& context) override {
    if (!saves_) return TorchKernel::differentiate(context);
    at::Tensor dx = lifted(grad_in(context, 0));
    const auto gradient = window_.kernel.size() == 3 ? &at::max_pool3d_with_indices_backward_out
                                                     : &at::max_pool2d_with_indices_backward_out;
    gradient(dx, lifted(grad_out(context, 0)), lifted(in(context, 0)), window_.kernel,
             window_.strides, padding_, window_.dilations, ceil_mode_, lifted(saved(context, 0)));
  }

 private:
  /// Torch's indices count within one padded channel; ONNX's within the whole tensor, without
  /// padding.
  at::Tensor whole_tensor_indices(at::Tensor index, const at::Tensor& x,
                                  const at::Tensor& padded) const {
    const std::int64_t rank = x.dim();
    at::DimVector strides(std::size_t(rank), 1);
    std::int64_t stride = 1;
    for (std::int64_t k = 2; k < rank; ++k) {
      const std::int64_t i = column_major_ ? k : rank + 1 - k;
      strides[std::size_t(i)] = stride;
      stride *= x.size(i);
    }
    at::Tensor result = at::zeros_like(index);
    for (std::int64_t i = rank - 1; i >= 2; --i) {
      const std::int64_t before = window_.pools ? 0 : window_.begin[std::size_t(i - 2)];
      result += (at::remainder(index, padded.size(i)) - before) * strides[std::size_t(i)];
      index = at::div(index, padded.size(i), "floor");
    }
    const at::Tensor channels =
        at::arange(x.size(0) * x.size(1), index.options()).view({x.size(0), x.size(1)});
    at::DimVector shape(std::size_t(rank), 1);
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    return result + channels.view(shape) * stride;
  }

  TorchWindow window_;
  Sizes padding_;  // torch's; what it does not do itself is written out
  bool ceil_mode_, column_major_, direct_, saves_;
  at::Tensor indices_;  // used if the output is unused
};

class GlobalMaxPool final : public TorchKernel {
 public:
  explicit GlobalMaxPool(const PlanContext& context)
      : TorchKernel(context), sizes_(sizes_of(context.output(0).shape).vec()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor flat = inputs[0].reshape({sizes_[0], sizes_[1], -1});
    results[0] = std::get<0>(at::max(flat, 2)).view(sizes_);
  }

 private:
  Sizes sizes_;
};

}  // namespace

void register_max_pool(OperatorRegistry& registry) {
  add<MaxPool, MaxPoolView>(registry, computes_some);
  add<GlobalMaxPool, onnx::nodes::GlobalMaxPool>(registry, computes_some);
}

}  // namespace d5::torch

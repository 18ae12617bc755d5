// SPDX-License-Identifier: Apache-2.0
// The mean of the elements under a window, 1 to 3 spatial dimensions, or of all elements.
#include <ATen/core/DimVector.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/avg_pool2d_backward.h>
#include <ATen/ops/avg_pool3d.h>
#include <ATen/ops/avg_pool3d_backward.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/ones.h>

#include <numeric>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

using AveragePoolView = onnx::nodes::AveragePool;

/// Shapes: x N,C,spatial; y N,C,outputs.
class AveragePool final : public TorchKernel {
 public:
  explicit AveragePool(const PlanContext& context)
      : TorchKernel(context),
        count_padding_(AveragePoolView(node()).count_include_pad() != 0),
        window_(TorchWindow::of_pooling(AveragePoolView(node()), context)),
        direct_(window_.pools && !window_.dilated) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor x = lifted(inputs[0]);
    const auto pool = window_.kernel.size() == 3 ? &at::avg_pool3d : &at::avg_pool2d;
    const at::Tensor y = direct_ ? pool(x, window_.kernel, window_.strides, window_.begin,
                                        window_.ceil_mode, count_padding_, std::nullopt)
                                 : by_convolution(x);
    results[0] = inputs[0].dim() == 3 ? y.squeeze(2) : y;
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchKernel::run(context);
    at::Tensor y = lifted(out(context, 0));
    const auto pool = window_.kernel.size() == 3 ? &at::avg_pool3d_out : &at::avg_pool2d_out;
    pool(y, lifted(in(context, 0)), window_.kernel, window_.strides, window_.begin,
         window_.ceil_mode, count_padding_, std::nullopt);
  }

  void differentiate(GradContext& context) override {
    if (!direct_) return TorchKernel::differentiate(context);
    at::Tensor dx = lifted(grad_in(context, 0));
    const auto gradient =
        window_.kernel.size() == 3 ? &at::avg_pool3d_backward_out : &at::avg_pool2d_backward_out;
    gradient(dx, lifted(grad_out(context, 0)), lifted(in(context, 0)), window_.kernel,
             window_.strides, window_.begin, window_.ceil_mode, count_padding_, std::nullopt);
  }

 private:
  /// For cases that torch's pooling lacks: sums of windows, divided by the number of counted
  /// elements.
  at::Tensor by_convolution(const at::Tensor& small) const {
    const at::Tensor x = widened(small);  // its sums are larger than its means
    at::DimVector ones_shape = {1, 1}, mask_shape = {1, 1};
    ones_shape.append(window_.kernel.begin(), window_.kernel.end());
    mask_shape.append(x.sizes().begin() + 2, x.sizes().end());
    const at::Tensor ones = at::ones(ones_shape, x.options());
    const at::Tensor padded = window_.pad(x, 0);
    const at::Tensor mask = window_.pad(at::ones(mask_shape, x.options()), 0);
    if (count_padding_) {
      // Declared padding counts; the part of the last window beyond it does not.
      mask.fill_(1);
      for (std::int64_t i = 2; i < x.dim(); ++i) {
        const std::int64_t declared =
            x.size(i) + window_.begin[std::size_t(i - 2)] + window_.end[std::size_t(i - 2)];
        if (declared < mask.size(i)) mask.narrow(i, declared, mask.size(i) - declared).zero_();
      }
    }
    const auto sums = [&](const at::Tensor& values) {
      return at::convolution(values, ones, {}, window_.strides, window_.zeros, window_.dilations,
                             /*transposed=*/false, window_.zeros, 1);
    };
    at::DimVector flat(padded.sizes().begin(), padded.sizes().end());
    flat[0] *= flat[1];
    flat[1] = 1;
    // An empty window has the mean 0.
    const at::Tensor y = sums(padded.reshape(flat)) / sums(mask).clamp_min_(1);
    at::DimVector shape(y.sizes().begin(), y.sizes().end());
    shape[0] = x.size(0);
    shape[1] = x.size(1);
    return y.reshape(shape).to(small.scalar_type());
  }

  bool count_padding_;
  TorchWindow window_;
  bool direct_;
};

/// Torch has no average pooling of small floats over three dimensions.
Support averages(const PlanContext& context) {
  if (context.has_input(0) && context.shape(0).rank() == 5 &&
      (context.dtype(0) == DType::float16 || context.dtype(0) == DType::bfloat16)) {
    return {"AveragePool over three dimensions on " + std::string(name_of(context.dtype(0)))};
  }
  return computes_some(context);
}

class GlobalAveragePool final : public TorchKernel {
 public:
  explicit GlobalAveragePool(const PlanContext& context)
      : TorchKernel(context), dims_(context.shape(0).rank() - 2) {
    std::iota(dims_.begin(), dims_.end(), 2);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::mean(inputs[0], dims_, /*keepdim=*/true);
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    at::mean_out(out(context, 0), in(context, 0), dims_, /*keepdim=*/true);
  }
  void differentiate(GradContext& context) override {
    at::Tensor& dx = grad_in(context, 0);
    const at::Tensor& dy = grad_out(context, 0);
    dx.copy_(dy.expand(dx.sizes())).div_(double(dx.numel() / dy.numel()));
  }

 private:
  Sizes dims_;
};

}  // namespace

void register_average_pool(OperatorRegistry& registry) {
  add<AveragePool, AveragePoolView>(registry, averages);
  add<GlobalAveragePool, onnx::nodes::GlobalAveragePool>(registry, computes_some);
}

}  // namespace d5::torch

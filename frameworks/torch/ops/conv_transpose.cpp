// SPDX-License-Identifier: Apache-2.0
// Transposed convolution, 1 to 3 spatial dimensions.
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/convolution.h>

#include <algorithm>
#include <optional>

#include "d5/level0_ops/operator/window.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using ConvTransposeView = onnx::nodes::ConvTranspose;

/// Shapes: x N,C,spatial; w C,M/group,kernel; b M; y N,M,spatial.
class ConvTranspose final : public TorchKernel {
 public:
  explicit ConvTranspose(const PlanContext& context)
      : TorchKernel(context), group_(ConvTransposeView(node()).group()) {
    const Shape& x = context.shape(ConvTransposeView::In::X);
    const auto kernel = context.shape(ConvTransposeView::In::W).dims().subspan(2);
    const Window window = WindowAttributes::of(ConvTransposeView(node()))
                              .resolve_transposed(x, {kernel.begin(), kernel.end()}, context.who());
    for (std::size_t i = window.axes.size() - window.rank; i < window.axes.size(); ++i) {
      const WindowAxis& axis = window.axes[i];
      const std::int64_t extent = (axis.kernel - 1) * axis.dilation + 1;
      const std::int64_t full = (axis.output - 1) * axis.stride + extent;
      const std::int64_t more = axis.input - (full - 2 * axis.pad_begin);
      strides_.push_back(axis.stride);
      dilations_.push_back(axis.dilation);
      padding_.push_back(axis.pad_begin);
      output_padding_.push_back(more);
      amounts_.insert(amounts_.begin(), {-axis.pad_begin, axis.input - (full - axis.pad_begin)});
      by_torch_ = by_torch_ && axis.pad_begin >= 0 && more >= 0 &&
                  more < std::max(axis.stride, axis.dilation);
    }
    bias_.assign(x.rank(), 1);
    bias_[1] = context.output(0).shape[1];
    if (by_torch_) return;
    padding_.assign(window.rank, 0);
    output_padding_.assign(window.rank, 0);
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const auto bias = given(inputs, ConvTransposeView::In::B);
    at::Tensor y =
        at::convolution(inputs[ConvTransposeView::In::X], inputs[ConvTransposeView::In::W],
                        by_torch_ ? bias : std::nullopt, strides_, padding_, dilations_,
                        /*transposed=*/true, output_padding_, group_);
    if (!by_torch_) {
      y = at::constant_pad_nd(y, amounts_, 0);
      if (bias) y = y + bias->reshape(bias_);
    }
    results[0] = y;
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {ConvTransposeView::In::X, ConvTransposeView::In::W,
                                      ConvTransposeView::In::B},
            .backward_reads_outputs = {}};
  }

 private:
  std::int64_t group_;
  bool by_torch_ = true;  // torch cuts both ends by as much, and adds less than a step behind
  Sizes strides_, dilations_, padding_, output_padding_;
  Sizes amounts_;  // otherwise, padding of the whole result; torch: last dimension first
  Sizes bias_;     // its shape beside the output
};

}  // namespace

void register_conv_transpose(OperatorRegistry& registry) {
  add<ConvTranspose, ConvTransposeView>(registry, computes_some);
}

}  // namespace d5::torch

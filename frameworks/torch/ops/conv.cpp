// SPDX-License-Identifier: Apache-2.0
// Convolution, 1 to 3 spatial dimensions.
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>

#include "d5/onnx/nodes.hpp"
#include "fused_kernel.hpp"
#include "result_memory.hpp"
#include "torch_kernel.hpp"
#include "torch_window.hpp"

namespace d5::torch {
namespace {

using ConvView = onnx::nodes::Conv;

TorchWindow window_of(const PlanContext& context) {
  const auto kernel = context.shape(ConvView::In::W).dims().subspan(2);
  const Window window =
      WindowAttributes::of(ConvView(context.node()))
          .resolve(context.shape(ConvView::In::X), {kernel.begin(), kernel.end()}, context.who());
  return TorchWindow(window, window.rank);
}

/// Shapes: x N,C,spatial; w M,C/group,kernel; b M; y N,M,spatial.
class Conv final : public TorchKernel {
 public:
  explicit Conv(const PlanContext& context)
      : TorchKernel(context),
        group_(ConvView(node()).group()),
        channels_(context.shape(ConvView::In::W)[0]),
        window_(window_of(context)),
        padding_(window_.symmetric ? window_.begin : window_.zeros) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[ConvView::Out::Y] =
        convolve(inputs[ConvView::In::X], inputs[ConvView::In::W],
                 inputs.size() > ConvView::In::B ? inputs[ConvView::In::B] : at::Tensor());
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {ConvView::In::X, ConvView::In::W},
            .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    ResultMemory memory;  // convolution has no out variant that writes directly
    memory.offer(out(context, ConvView::Out::Y), &turn_);
    memory.deliver(
        convolve(in(context, ConvView::In::X), in(context, ConvView::In::W),
                 context.has_input(ConvView::In::B) ? in(context, ConvView::In::B) : at::Tensor()));
  }

  void differentiate(GradContext& context) override {
    const std::array<bool, 3> wanted = {context.wants_grad(0), context.wants_grad(1),
                                        context.wants_grad(2)};
    const at::Tensor& x = in(context, ConvView::In::X);
    ResultMemory memory;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      memory.offer(wanted[i] ? grad_in(context, i) : at::Tensor(), &gradient_turns_[i]);
    }
    auto [dx, dw, db] = at::convolution_backward(
        grad_out(context, 0), padded(x), in(context, ConvView::In::W), at::IntArrayRef(channels_),
        window_.strides, padding_, window_.dilations, /*transposed=*/false, window_.zeros, group_,
        wanted);
    for (std::size_t i = 0; !window_.symmetric && wanted[0] && i < window_.begin.size(); ++i) {
      const auto dim = std::int64_t(i) + 2;
      dx = dx.narrow(dim, window_.begin[i], x.size(dim));
    }
    memory.deliver({dx, dw, db});
  }

 private:
  at::Tensor padded(const at::Tensor& x) const { return window_.symmetric ? x : window_.pad(x, 0); }
  at::Tensor convolve(const at::Tensor& x, const at::Tensor& w, const at::Tensor& b) const {
    return at::convolution(padded(x), w, b.defined() ? std::optional(b) : std::nullopt,
                           window_.strides, padding_, window_.dilations, /*transposed=*/false,
                           window_.zeros, group_);
  }

  std::int64_t group_, channels_;
  TorchWindow window_;
  Sizes padding_;  // torch's; what it does not do itself is written out
  ResultTurn turn_;
  std::array<ResultTurn, 3> gradient_turns_;
};

}  // namespace

void register_conv(OperatorRegistry& registry) {
  add<Conv, ConvView>(registry, computes_some);
  add_fused<Conv>(registry, "FusedConv");
}

}  // namespace d5::torch

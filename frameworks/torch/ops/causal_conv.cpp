// SPDX-License-Identifier: Apache-2.0
// Causal convolution over time, channel by channel, with the inputs before the first one as a
// state.
#include <ATen/ops/cat.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using CausalConvWithStateView = onnx::nodes::CausalConvWithState;
using CausalConvWithStateIn = CausalConvWithStateView::In;
using Out = CausalConvWithStateView::Out;

/// Shapes: x and y N,C,L; w C,1,K; b C; past and present N,C,K - 1.
class CausalConv final : public TorchKernel {
 public:
  explicit CausalConv(const PlanContext& context)
      : TorchKernel(context),
        channels_(context.shape(CausalConvWithStateIn::weight)[0]),
        past_(context.shape(CausalConvWithStateIn::weight)[2] - 1),
        activates_(CausalConvWithStateView(node()).activation() != "none") {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[CausalConvWithStateIn::input];
    const at::Tensor past = given(inputs, CausalConvWithStateIn::past_state)
                                .value_or(at::zeros({x.size(0), channels_, past_}, x.options()));
    const at::Tensor whole = at::cat({past, x}, 2);
    auto bias = given(inputs, CausalConvWithStateIn::bias);
    if (bias) bias = widened(*bias);
    const at::Tensor y =
        at::convolution(widened(whole), widened(inputs[CausalConvWithStateIn::weight]), bias,
                        /*stride=*/1, /*padding=*/0, /*dilation=*/1,
                        /*transposed=*/false, /*output_padding=*/0, channels_);
    results[Out::output] = (activates_ ? at::silu(y) : y).to(x.scalar_type());
    if (results.size() <= Out::present_state) return;
    results[Out::present_state] = whole.narrow(2, x.size(2), past_).clone();
  }

 private:
  std::int64_t channels_, past_;
  bool activates_;
};

/// A state may be empty, as for a single weight.
Support convolves(const PlanContext& context) {
  if (context.input(CausalConvWithStateIn::input).elements() == 0)
    return {"CausalConvWithState on no elements"};
  return computes(context);
}

}  // namespace

void register_causal_conv(OperatorRegistry& registry) {
  add<CausalConv, CausalConvWithStateView>(registry, convolves);
}

}  // namespace d5::torch

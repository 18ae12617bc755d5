// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/_local_scalar_dense_native.h>
#include <ATen/ops/clamp.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using ClipView = onnx::nodes::Clip;

/// `item` without its two calls through torch's dispatcher. Code that records calls needs those.
at::Scalar limit_of(const at::Tensor& limit) {
  if (limit.numel() != 1 || !limit.is_cpu()) return limit.item();  // or torch says what is wrong
  return at::native::_local_scalar_dense_cpu(limit);
}

/// y = min(max(x, low), high); where low > high, torch and ONNX both give high.
class Clip final : public TorchKernel {
 public:
  explicit Clip(const PlanContext& context) : TorchKernel(context) {
    if (node().opset >= 11) return;
    const ClipView view(node());
    // Torch refuses limits that the type cannot hold; rounded, they are infinite.
    const auto rounded = [half = context.dtype(0) == DType::float16](std::optional<float> limit) {
      if (limit && half) limit = float(at::Half(*limit));
      return limit ? std::optional<at::Scalar>(*limit) : std::nullopt;
    };
    low_ = rounded(view.min());
    high_ = rounded(view.max());
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const auto given = [&](std::size_t i) { return i < inputs.size() && inputs[i].defined(); };
    const auto low = given(ClipView::In::min) ? inputs[ClipView::In::min].item() : low_;
    const auto high = given(ClipView::In::max) ? inputs[ClipView::In::max].item() : high_;
    results[0] = low || high ? at::clamp(inputs[0], low, high) : inputs[0].clone();
  }

 protected:
  void run(OpContext& context) override {
    const auto low =
        context.has_input(ClipView::In::min) ? limit_of(in(context, ClipView::In::min)) : low_;
    const auto high =
        context.has_input(ClipView::In::max) ? limit_of(in(context, ClipView::In::max)) : high_;
    if (low || high) {
      at::clamp_out(out(context, 0), in(context, 0), low, high);
    } else {
      out(context, 0).copy_(in(context, 0));
    }
  }

 private:
  std::optional<at::Scalar> low_, high_;  // from attributes
};

}  // namespace

void register_clip(OperatorRegistry& registry) { add<Clip, ClipView>(registry, computes); }

}  // namespace d5::torch

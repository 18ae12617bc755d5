// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/clamp.h>

#include "d5/onnx/nodes.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// y = min(max(x, low), high); where low > high, torch and ONNX both give high.
class Clip final : public TorchOperator {
  using View = onnx::nodes::Clip;

 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    std::optional<at::Scalar> low, high;
    if (node().opset >= 11) {
      if (inputs.size() > View::In::min && inputs[View::In::min].defined())
        low = inputs[View::In::min].item();
      if (inputs.size() > View::In::max && inputs[View::In::max].defined())
        high = inputs[View::In::max].item();
    } else {
      const View view(node());
      if (view.min()) low = *view.min();
      if (view.max()) high = *view.max();
    }
    if (!low && !high) return {inputs[0].clone()};
    return {at::clamp(inputs[0], low, high)};
  }
};

}  // namespace

void register_clip(OperatorRegistry& registry) { add<Clip>(registry, "Clip"); }

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "d5/level0_ops/run/node_run.hpp"

namespace d5 {

/// A node with dynamic shapes: infers, plans and allocates again in every run, with the actual
/// values.
class DynamicKernel final : public Kernel {
 public:
  explicit DynamicKernel(NodeRun run) : run_(std::move(run)) {}

  void forward(OpContext& context) override {
    run_.plan(context.inputs, context.outputs);
    run_.forward();
  }
  /// Skips gradients of values that turned out not to be floating-point tensors.
  void backward(GradContext& context) override {
    std::vector<const Tensor*> grad_outputs(context.grad_outputs.begin(),
                                            context.grad_outputs.end());
    for (const Tensor*& gradient : grad_outputs) {
      if (gradient && !is_floating_point(gradient->dtype())) gradient = nullptr;
    }
    std::vector<Tensor*> grad_inputs(context.grad_inputs.begin(), context.grad_inputs.end());
    for (std::size_t i = 0; i < grad_inputs.size(); ++i) {
      if (!run_.wants_grad(i)) grad_inputs[i] = nullptr;
    }
    const bool wanted = std::any_of(grad_inputs.begin(), grad_inputs.end(),
                                    [](const Tensor* gradient) { return gradient != nullptr; });
    if (wanted) run_.backward(grad_outputs, grad_inputs);
  }

 private:
  NodeRun run_;
};

}  // namespace d5

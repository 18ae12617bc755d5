// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/node_run.hpp"

namespace d5 {

/// A node whose shapes only running tells: infers, plans and allocates again in every run, with the
/// values at hand.
class DynamicKernel final : public Kernel {
 public:
  explicit DynamicKernel(NodeRun run) : run_(std::move(run)) {}

  void forward(OpContext& context) override {
    run_.plan(context.inputs, context.outputs);
    run_.forward();
  }
  void backward(GradContext& context) override {
    run_.backward(context.grad_outputs, context.grad_inputs);
  }

 private:
  NodeRun run_;
};

}  // namespace d5

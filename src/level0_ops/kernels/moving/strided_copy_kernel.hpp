// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/kernel.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::detail {

/// Copies every element of input 0 to an element of output 0, and its gradient back.
class StridedCopyKernel final : public Kernel {
 public:
  explicit StridedCopyKernel(const StridedCopy& copy) : copy_(copy) {}
  void forward(OpContext& context) override {
    copy_.run(context.output(0).raw(), context.input(0).raw());
  }
  void backward(GradContext& context) override {
    copy_.run_back(context.grad_output(0).raw(), context.grad_input(0).raw());
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  StridedCopy copy_;
};

}  // namespace d5::detail

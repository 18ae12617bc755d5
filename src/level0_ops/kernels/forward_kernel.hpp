// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "d5/level0_ops/operator/kernel.hpp"

namespace d5::detail {

template <class Forward>
class ForwardKernel final : public Kernel {
 public:
  explicit ForwardKernel(Forward forward) : forward_(std::move(forward)) {}
  void forward(OpContext& context) override { forward_(context); }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  Forward forward_;
};

/// Makes a kernel without gradient from a function for forward.
///
///     return forward_kernel([n = context.shape(0).elements()](OpContext& run) {
///       *run.output(0).data<std::int64_t>() = n;
///     });
template <class Forward>
[[nodiscard]] std::unique_ptr<Kernel> forward_kernel(Forward forward) {
  return std::make_unique<ForwardKernel<Forward>>(std::move(forward));
}

}  // namespace d5::detail

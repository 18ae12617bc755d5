// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "d5/level0_ops/operator/operator.hpp"

namespace d5 {

/// Domain of transfer nodes in a plan.
inline constexpr const char* kTransferDomain = "d5";

/// Event of the last copy queued from the host's memory: until it has passed, that memory must not
/// change.
struct HostReads {
  std::shared_ptr<Moment> last;

  void wait() {
    if (last) std::exchange(last, nullptr)->wait();
  }
};

/// A transfer: the same values on another device or in another layout.
class Transfer final : public MovingOperator {
 public:
  /// `to`: where, and how arranged.
  explicit Transfer(TensorDesc to) : to_(std::move(to)) {}
  std::vector<ValueDesc> infer(const InferContext&) const override { return {to_}; }
  Places gradients() const override { return {0}; }
  /// Throws: Unsupported; `add_transfers`, which knows both ends, makes the kernels.
  std::unique_ptr<Kernel> plan(PlanContext& context) const override;

 private:
  TensorDesc to_;
};

/// A copy between devices, and of its gradient in the other direction. It waits if the host reads
/// next.
class CopyKernel final : public Kernel {
 public:
  explicit CopyKernel(HostReads& host_reads) : host_reads_(host_reads) {}
  void forward(OpContext& context) override {
    carry(context.output(0), context.input(0), context.stream());
  }
  void backward(GradContext& context) override {
    carry(context.grad_input(0), context.grad_output(0), context.stream());
  }
  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 private:
  void carry(Tensor& to, const Tensor& from, Stream& stream);

  HostReads& host_reads_;
};

}  // namespace d5

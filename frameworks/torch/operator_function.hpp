// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_kernel.hpp"

namespace d5::torch {

/// An operator that is none of torch's, a user's own, as a function of torch: its kernel runs on
/// torch's memory, and autograd sees a function whose derivative is the kernel's backward.
///
/// Results lie in memory that the next `call` writes again.
class OperatorFunction final : public TorchKernel {
 public:
  /// `operators` outlives it.
  OperatorFunction(const PlanContext& context, const OperatorRegistry& operators);

  void call(Inputs inputs, Results results, const Random& random) const override;

  struct Run;

 private:
  // One that may be asked for gradients, and one that need not keep anything for them.
  std::shared_ptr<Run> training_, inference_;
};

}  // namespace d5::torch

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_kernel.hpp"

namespace d5::torch {

/// A user's operator as a function of torch: its kernel runs on torch's memory, and autograd sees a
/// function whose derivative is the kernel's backward.
///
/// The next `call` overwrites the memory of results.
class OperatorFunction final : public TorchKernel {
 public:
  /// `operators` outlives it.
  OperatorFunction(const PlanContext& context, const OperatorRegistry& operators);

  void call(Inputs inputs, Results results, const Random& random) const override;

  struct Run;

 private:
  // One run with data for gradients, and one without.
  std::shared_ptr<Run> training_, inference_;
};

}  // namespace d5::torch

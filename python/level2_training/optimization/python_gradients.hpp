// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5::python {

/// What `Optimizer.update` is given: the gradients of a step's batch, again and again. Good during
/// that call alone.
class PythonGradients {
 public:
  /// `first`: what the step's run gave, which is copied.
  PythonGradients(GradientSource& source, RankAgreement& ranks, const Batch& batch,
                  const ValueMap& first);

  /// The gradients of the batch at the parameters as they are. Returns the network's outputs.
  const ValueMap& run(double factor, GradientRun::Write write);
  double loss();
  double mean(double value);
  [[nodiscard]] GraphExecutor& executor() { return source_.executor(); }

  ValueMap outputs;

 private:
  GradientSource& source_;
  RankAgreement& ranks_;
  const Batch& batch_;
};

}  // namespace d5::python

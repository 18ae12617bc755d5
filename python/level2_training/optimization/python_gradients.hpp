// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5::python {

/// The argument of `Optimizer.update`: gradients of a step's batch, which can be computed
/// repeatedly. Valid during that call alone.
class PythonGradients {
 public:
  /// `first`: the outputs of the step's run, which are copied.
  PythonGradients(GradientSource& source, RankAgreement& ranks, const Batch& batch,
                  const ValueMap& first);

  /// Computes the batch's gradients at the current parameters. Returns the network's outputs.
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

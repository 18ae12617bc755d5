// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// The result of `simulate_training` from the training's graph instead of simulated ranks.
[[nodiscard]] SimulatedTraining scheduled_training(const TrainingProfile& profile, int ranks,
                                                   const ClusterDescription& cluster,
                                                   const SimulatedTrainingOptions& options);

/// The part of a step that is not a rank's own work; 0 if it is within the rounding error of sums
/// of times.
[[nodiscard]] inline double exposed_time(double step, double computed) {
  constexpr double kRounding = 1e-9;  // relative
  const double exposed = step - computed;
  return exposed < kRounding * step ? 0 : exposed;
}

}  // namespace d5

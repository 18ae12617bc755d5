// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/training/simulated_training.hpp"

namespace d5 {

/// The result of `simulate_training` from the training's graph instead of simulated ranks.
[[nodiscard]] SimulatedTraining scheduled_training(const TrainingProfile& profile, int ranks,
                                                   const ClusterDescription& cluster,
                                                   const SimulatedTrainingOptions& options);

}  // namespace d5

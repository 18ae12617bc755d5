// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level2_training/training/training_session.hpp"

namespace d5 {

/// What training by a recipe would be, and no step of it: its parts are opened, and a training step
/// is planned for the first batch, which is the usual size of all.
///
/// One record, "skipped": "predicted_memory" of a step, in bytes, where the executor knows it; its
/// conditions say what would be trained, on what, how long. It is unsupported, with the reason,
/// where the framework cannot. Checkpoints are neither read nor written.
/// Throws: as `TrainingSession` for a recipe or data that are wrong.
[[nodiscard]] std::vector<Measurement> plan_training(const Recipe& recipe,
                                                     const SessionOptions& options = {},
                                                     const Interrupt& interrupt = {});

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level2_training/training/training_session.hpp"

namespace d5 {

/// Plans training by a recipe without running a step: opens its parts, and plans a training step
/// for the first batch, which has the usual size.
///
/// Returns one record, skipped: "predicted_memory" of a step, in bytes, if the executor knows it.
/// Its conditions describe the training: model, data, length. It is unsupported, with the reason,
/// if the framework cannot train it. Checkpoints are neither read nor written.
/// Throws: as `TrainingSession` for an invalid recipe or data.
[[nodiscard]] std::vector<Measurement> plan_training(const Recipe& recipe,
                                                     const SessionOptions& options = {},
                                                     const Interrupt& interrupt = {});

}  // namespace d5

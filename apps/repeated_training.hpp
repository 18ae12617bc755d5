// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "apps/train_options.hpp"
#include "d5/level2_training/training_variant.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::app {

/// The records of one run.
using TrainOnce = std::function<std::vector<Measurement>(const TrainingVariant&)>;

/// A recipe from several seeds, in several variants and frameworks: the runs of each joined to one
/// record a metric, printed, written and drawn as `options` say. Keeps each run that is done beside
/// `--out`, and goes on from there. Returns the exit status.
int train_repeatedly(const TrainOptions& options, const Recipe& recipe, const TrainOnce& train,
                     Communicator& ranks, const Interrupt& interrupt);

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/train_options.hpp"
#include "d5/level2_training/validation/variant_training.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::app {

/// Trains a recipe with several seeds, variants and frameworks (`train_variants`), then prints,
/// writes and draws the results as `options` say. Returns the exit status.
int train_repeatedly(const TrainOptions& options, const Recipe& recipe, const TrainOnce& train,
                     Communicator& ranks, const Interrupt& interrupt);

}  // namespace d5::app

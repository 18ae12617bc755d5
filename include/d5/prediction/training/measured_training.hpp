// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/profile/profile_training.hpp"

namespace d5 {

/// What a prediction is held against: steps of MODEL on these ranks by a scheme, on inputs that d5
/// makes, or of RECIPE on its data, in the framework that a word names. `options` has one batch
/// size, a rank's; each rank takes the batches that a rank alone would.
///
/// Returns: s by step, of the slowest rank, the same on each. A collective.
/// Throws: as `profile_training` and the scheme.
[[nodiscard]] std::vector<double> measure_steps(const std::string& model_or_recipe,
                                                const std::string& framework,
                                                const EntryChoice& scheme,
                                                const ProfileOptions& options,
                                                const ExecutorOptions& execution,
                                                const std::shared_ptr<Communicator>& ranks);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "d5/prediction/profile/profile_training.hpp"

namespace d5 {

/// Measures training steps to validate a prediction: steps of MODEL on generated inputs, or of
/// RECIPE on its data, by a scheme on these ranks, in the named framework. `options` has one batch
/// size, per rank; each rank takes the same batches as a single rank would.
///
/// Returns: seconds of each step on the slowest rank, the same on each rank. A collective.
/// Throws: as `profile_training` and the scheme.
[[nodiscard]] std::vector<double> measure_steps(const std::string& model_or_recipe,
                                                const std::string& framework,
                                                const EntryChoice& scheme,
                                                const ProfileOptions& options,
                                                const ExecutorOptions& execution,
                                                const std::shared_ptr<Communicator>& ranks);

}  // namespace d5

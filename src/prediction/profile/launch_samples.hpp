// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5::detail {

/// Indexes of each launch's samples, in order of copies; all samples for a single launch.
[[nodiscard]] std::vector<std::vector<std::size_t>> samples_of_launches(
    const TrainingProfile::Times& times, int copies);
/// The inconsistency of `launches` with the samples; empty: none.
[[nodiscard]] std::string wrong_launches(const TrainingProfile::Times& times, int copies);

/// The profiled size nearest to `batch`.
[[nodiscard]] const TrainingProfile::Times& nearest_times(const TrainingProfile& profile,
                                                          std::int64_t batch);

/// Adds reasons to mistrust the steps: too few, or too much recording overhead.
void judge_steps(TrainingProfile& profile);

}  // namespace d5::detail

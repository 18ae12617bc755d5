// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5::detail {

/// Places of each launch's samples, in order of copies; all where there is one launch.
[[nodiscard]] std::vector<std::vector<std::size_t>> samples_of_launches(
    const TrainingProfile::Times& times, int copies);
/// What is wrong with `launches` beside the samples; empty: nothing.
[[nodiscard]] std::string wrong_launches(const TrainingProfile::Times& times, int copies);

/// Adds reasons to mistrust that all steps together give: too few, or longer by recording them.
void judge_steps(TrainingProfile& profile);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// A table of a profile. Each batch size has a row for each kind of piece (loading, forward,
/// backward, update, framework overhead), one for the scheduled step, and one for unobserved steps
/// with the overhead of observation.
[[nodiscard]] TextTable profile_table(const TrainingProfile& profile, Format format);

}  // namespace d5

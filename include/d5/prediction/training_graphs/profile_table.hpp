// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tables/text_table.hpp"
#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// For people: for each batch size a row a kind of piece (loading, forward, backward, update, and
/// what the framework adds), one for the step as its graph is scheduled, and one for steps that
/// nobody observed, with how much longer observing makes them.
[[nodiscard]] TextTable profile_table(const TrainingProfile& profile, Format format);

}  // namespace d5

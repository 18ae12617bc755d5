// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// Joins the profiles of one training from several launches. Processes differ in speed by some
/// percent, which steps within one process cannot show.
///
/// Samples of each copy are in order of launches (`TrainingProfile::Times::launches`); nodes are
/// matched by name. The result has the batch sizes common to all launches, and the medians of their
/// rates. The required number of steps, 30, is counted over all launches.
///
///     joined_launches(launches).batches[0].launches;  // {5, 5, 5, 5, 5, 5}
///
/// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (ISMM 2013).
/// Throws: ValueError for no launch, and for launches that differ in model, framework, device,
/// optimizer, threads, copies, machine, nodes or parameters, or have no batch size in common; the
/// message names the launch and the difference.
[[nodiscard]] TrainingProfile joined_launches(std::span<const TrainingProfile> launches);

}  // namespace d5

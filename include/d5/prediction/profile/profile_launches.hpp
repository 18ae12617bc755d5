// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "d5/prediction/profile/training_profile.hpp"

namespace d5 {

/// The profiles of one training that several launches made, one after the other, as one: a process
/// is some percent faster or slower than the next, which no number of steps within one shows.
///
/// Of each copy the samples of the first launch stand before those of the second
/// (`TrainingProfile::Times::launches`), nodes by their names; batch sizes are those that all have,
/// rates the median of launches. Steps are judged together: 30 of all launches are enough.
///
///     joined_launches(launches).batches[0].launches;  // {5, 5, 5, 5, 5, 5}
///
/// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time" (ISMM 2013).
/// Throws: ValueError for no launch, and for launches that differ in model, framework, device,
/// optimizer, threads, copies, machine, nodes or parameters, or have no batch size in common; it
/// says which launch and what.
[[nodiscard]] TrainingProfile joined_launches(std::span<const TrainingProfile> launches);

}  // namespace d5

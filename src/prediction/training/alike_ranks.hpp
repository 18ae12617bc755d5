// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "d5/prediction/training/simulated_training.hpp"

namespace d5::detail {

/// Simulates the ranks of `options.simulation.members`, of each rank if that is 0.
/// Throws: as `simulate_training`; RanksDiffer.
[[nodiscard]] SimulatedTraining simulate_ranks(const TrainingProfile& profile, int ranks,
                                               const ClusterDescription& cluster,
                                               const SimulatedTrainingOptions& options);

/// Simulates the ranks of one host, or of one switch of a level, which stand for those of all. They
/// are tried against every rank of 4 hosts (8 ranks at least) first, once a process for each
/// scheme, network model and cluster. Returns: nothing if ranks are few, or differ.
[[nodiscard]] std::optional<SimulatedTraining> simulate_alike_ranks(
    const TrainingProfile& profile, int ranks, const ClusterDescription& cluster,
    const SimulatedTrainingOptions& options);

}  // namespace d5::detail

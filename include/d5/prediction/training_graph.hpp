// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/prediction/operation_graph.hpp"
#include "d5/prediction/training_profile.hpp"

namespace d5 {

/// One step of one rank: its pieces one after the other, each behind what the framework does before
/// it (kind "overhead"). Loading is on the lane "loader", all else on "compute". A backward piece
/// has the attributes "bytes", of the gradients that are final when it ends, and "gradients", how
/// many.
///
///     schedule(one_rank_graph(profile, 16)).seconds;  // step_times(profile, 16).step
///
/// Throws: as `step_times`.
[[nodiscard]] OperationGraph one_rank_graph(const TrainingProfile& profile, std::int64_t batch);

}  // namespace d5

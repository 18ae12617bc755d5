// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {

/// The timeline of simulated training steps in virtual time, one process per rank: forward,
/// backward up to each gradient, calls and waits, updates, and a span "step" around each step.
///
/// Throws: as `simulate_training`; ValueError while another trace is running; Unsupported for a
/// rewrite that no scheme implements, because then no rank is simulated.
[[nodiscard]] Timeline predicted_timeline(const TrainingProfile& profile, int ranks,
                                          const ClusterDescription& cluster,
                                          const SimulatedTrainingOptions& options);

/// The timeline for the largest of `options.ranks` up to 16, which fit on a page; for one rank if
/// all are larger.
[[nodiscard]] Timeline predicted_timeline(const TrainingProfile& profile,
                                          const ClusterDescription& cluster,
                                          const ScalingPredictionOptions& options);

/// One measured and one predicted step on a common time axis, for the ranks that both have: the
/// measured step of median length and the last predicted step. Lanes are named "measured ..." and
/// "predicted ...", in this order.
///
/// Throws: ValueError if one of them has no span "step".
[[nodiscard]] Timeline measured_above_predicted(const Timeline& measured,
                                                const Timeline& predicted);

}  // namespace d5

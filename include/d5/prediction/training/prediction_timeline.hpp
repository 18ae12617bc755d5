// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {

/// What simulated ranks do in the steps of a training, a process a rank, in virtual time: forward,
/// backward up to each gradient, calls and waits, updates, and a span "step" around each step.
///
/// Throws: as `simulate_training`; ValueError while another trace is on; Unsupported where a
/// rewrite is done by no scheme, and so no rank is simulated.
[[nodiscard]] Timeline predicted_timeline(const TrainingProfile& profile, int ranks,
                                          const NetworkDescription& network,
                                          const SimulatedTrainingOptions& options);

/// The same of the most of `options.ranks` that a page has room for, 16; of one rank if all are
/// more.
[[nodiscard]] Timeline predicted_timeline(const TrainingProfile& profile,
                                          const NetworkDescription& network,
                                          const ScalingPredictionOptions& options);

/// One step of each, of ranks that both have, beginning at 0: the predicted training's last one,
/// and of the measured training the one whose length is the median. Lanes are named "measured ..."
/// and "predicted ...", in this order.
///
/// Throws: ValueError where one of them has no span "step".
[[nodiscard]] Timeline measured_above_predicted(const Timeline& measured,
                                                const Timeline& predicted);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/timeline.hpp"
#include "d5/prediction/simulated_training.hpp"

namespace d5 {

/// What simulated ranks do in the steps of a training, a process a rank, in virtual time: forward,
/// backward up to each gradient, calls and waits, updates, and a span "step" around each step.
///
/// Throws: as `simulate_training`; ValueError while another trace is on.
[[nodiscard]] Timeline predicted_timeline(const TrainingProfile& profile, int ranks,
                                          const NetworkDescription& network,
                                          const SimulatedTrainingOptions& options);

/// One step of each, of ranks that both have, beginning at 0: the predicted training's last one,
/// and of the measured training the one whose length is the median. Lanes are named "measured ..."
/// and "predicted ...", in this order.
///
/// Throws: ValueError where one of them has no span "step".
[[nodiscard]] Timeline measured_above_predicted(const Timeline& measured,
                                                const Timeline& predicted);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// A table of a training's scaling: one row for each time metric and number of ranks, with speed-up
/// and efficiency relative to the run on the fewest ranks. Rows of "time" and "epoch_time" also
/// have the time in communication (the metric "communication_time") and its share.
///
/// Let n ranks take t seconds and the fewest n0 ranks t0 seconds. Under strong scaling the speed-up
/// is t0 / t and the efficiency t0 n0 / (t n); under weak scaling (constant batch per rank) they
/// are n t0 / (n0 t) and t0 / t. Throws: ValueError if no time was measured on two numbers of
/// ranks.
///
///     metric      ranks  value   speed-up  efficiency  communication  share
///     epoch_time      1  40.1 s
///     epoch_time      2  22.3 s      1.80        0.90         6.31 s  0.094
[[nodiscard]] TextTable scaling_table(const std::vector<Measurement>& measurements);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// How a training went on more and more ranks: a row for each time and number of ranks, with the
/// speed-up and the efficiency over the run on the fewest; and beside "time" and "epoch_time" how
/// long the run was in communication (the metric "communication_time"), and the share of it.
///
/// Of n ranks in t seconds, of the fewest n0 in t0: under strong scaling the speed-up is t0 / t and
/// the efficiency t0 n0 / (t n); under weak scaling, where each rank keeps its batch, the work
/// grows with the ranks: n t0 / (n0 t), and t0 / t. Throws: ValueError where no time is there for
/// two numbers of ranks.
///
///     metric      ranks  value   speed-up  efficiency  communication  share
///     epoch_time      1  40.1 s
///     epoch_time      2  22.3 s      1.80        0.90         6.31 s  0.094
[[nodiscard]] TextTable scaling_table(const std::vector<Measurement>& measurements);

}  // namespace d5

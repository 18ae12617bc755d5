// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/measurement.hpp"

namespace d5::detail {

/// Marks `result` as mistrusted where its samples are too few, or drift.
/// `asked` is how many its metric wants; a metric that wants one is content with one.
void judge_samples(Measurement& result, int asked);

/// Marks `result`, a time or a rate, where the clock is too coarse for runs of `shortest_seconds`.
void judge_clock(Measurement& result, double shortest_seconds);

}  // namespace d5::detail

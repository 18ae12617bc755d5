// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/measurement.hpp"

namespace d5::detail {

/// Marks `result` as mistrusted where its samples are too few, or drift.
/// `asked` is how many its metric wants; a metric that wants one is content with one.
void judge_samples(Measurement& result, int asked);

/// Marks `result`, a time or a rate, where the clock is too coarse for runs of `shortest_seconds`.
void judge_clock(Measurement& result, double shortest_seconds);

/// Marks `result`, a time or a rate, where `others` processors that were busy with other work and
/// `own` threads of d5 are more than the machine's `processors`.
void judge_other_work(Measurement& result, double others, int own, int processors);

}  // namespace d5::detail

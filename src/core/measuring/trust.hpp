// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/measurement.hpp"

namespace d5::detail {

/// A record without samples is skipped; one that was interrupted is mistrusted, with the reason
/// that `interruption` gives (empty: it was not).
void judge_presence(Measurement& result, const std::string& interruption);

/// Marks `result` as mistrusted where its samples are too few, or drift. `asked` is how many runs
/// its metric wants: one that wants one is content with one, and its samples, such as the losses of
/// one training, are no repetitions of each other.
void judge_samples(Measurement& result, int asked);

/// Marks `result`, a time or a rate, where the clock is too coarse for runs of `shortest_seconds`.
void judge_clock(Measurement& result, double shortest_seconds);

/// Why times are not to be trusted where `others` processors that were busy with other work and
/// `own` threads of d5 are more than the machine's `processors`; empty where they are not.
[[nodiscard]] std::string disturbance(double others, int own, int processors);

/// Marks `result`, a time or a rate, where there was a disturbance.
void judge_other_work(Measurement& result, double others, int own, int processors);

}  // namespace d5::detail

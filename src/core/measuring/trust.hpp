// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/measuring/machine_watch.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Marks a record without samples as skipped, and an interrupted one as mistrusted, with the reason
/// `interruption` (empty: not interrupted).
void judge_presence(Measurement& result, const std::string& interruption);

/// Marks `result` as mistrusted if it has too few samples. `asked` is the number of runs that its
/// metric wants: if that is one, one sample suffices.
void judge_count(Measurement& result, int asked);

/// Marks `result`, a time or a rate, if the clock is too coarse for runs of `shortest_seconds`.
void judge_clock(Measurement& result, double shortest_seconds);

// The following functions doubt the moment of measurement, not the measured subject. Interleaved
// subjects share the moment, so it does not affect their ratio: call `judge_moment` after
// `ratio_record`.

/// Reasons to doubt the moment by the samples of `result`: drift or, for times and rates, two
/// modes. None for too few samples, and for samples that do not repeat each other, such as the
/// losses of one training (`asked` as above).
[[nodiscard]] std::vector<std::string> unsteadiness(const Measurement& result, int asked);

/// Reasons to doubt the moment by the machine's evidence.
[[nodiscard]] std::vector<std::string> disturbances(const MachineEvidence& seen);
/// The reason of other work: `others` busy processors and `own` threads of d5 exceed the machine's
/// `processors`. Empty if they do not.
[[nodiscard]] std::string disturbance(double others, int own, int processors);

/// Whether other work affects numbers of this kind: times, rates, and energy, which includes all
/// work.
[[nodiscard]] bool is_disturbed(Quantity quantity);

/// Marks `result`; for disturbances only if they affect its quantity.
void judge_moment(Measurement& result, int asked, const MachineEvidence& seen);

/// Whether the threads' waits were long enough to matter, assuming that they waited for other work.
[[nodiscard]] bool matters(const WaitedTime& waited);

/// Marks the ratio of two interleaved subjects if its samples are unsteady, or other work affected
/// one side more than the other.
void judge_shared_moment(Measurement& ratio, const MachineEvidence& subject,
                         const MachineEvidence& base);

}  // namespace d5::detail

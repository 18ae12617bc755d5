// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/measuring/machine_watch.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// A record without samples is skipped; one that was interrupted is mistrusted, with the reason
/// that `interruption` gives (empty: it was not).
void judge_presence(Measurement& result, const std::string& interruption);

/// Marks `result` as mistrusted where its samples are too few. `asked` is how many runs its metric
/// wants: one that wants one is content with one.
void judge_count(Measurement& result, int asked);

/// Marks `result`, a time or a rate, where the clock is too coarse for runs of `shortest_seconds`.
void judge_clock(Measurement& result, double shortest_seconds);

// What follows doubts the moment at which samples were taken, not what was measured. Subjects that
// were interleaved shared the moment, so that it excuses their ratio: `judge_moment` comes after
// `ratio_record`.

/// Reasons to doubt the moment by the samples of `result`: they drift, or, as times and rates, have
/// two modes. None for samples that are no repetitions of each other, such as the losses of one
/// training (`asked` as above), and for too few.
[[nodiscard]] std::vector<std::string> unsteadiness(const Measurement& result, int asked);

/// Reasons to doubt the moment by what the machine did.
[[nodiscard]] std::vector<std::string> disturbances(const MachineEvidence& seen);
/// That of them which other work is: `others` processors that were busy with it and `own` threads
/// of d5 are more than the machine's `processors`. Empty where they are not.
[[nodiscard]] std::string disturbance(double others, int own, int processors);

/// Whether other work changes numbers of this kind: times, rates, and energy, which is counted for
/// all that runs.
[[nodiscard]] bool is_disturbed(Quantity quantity);

/// Marks `result`; by disturbances only where its number is disturbed.
void judge_moment(Measurement& result, int asked, const MachineEvidence& seen);

/// Whether threads waited for so long that it matters, if they waited for other work.
[[nodiscard]] bool matters(const WaitedTime& waited);

/// Marks a ratio of two that were interleaved, where its samples are unsteady, or other work met
/// one side more than the other.
void judge_shared_moment(Measurement& ratio, const MachineEvidence& subject,
                         const MachineEvidence& base);

}  // namespace d5::detail

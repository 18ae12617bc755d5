// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// Present speed of `threads()` concurrent threads: integer operations per second in registers, the
/// slowest thread's median of a few tries. Takes about 50 µs. Time slices of other work between
/// tries do not lower it. A lower clock frequency does, and so does a sibling thread on the same
/// core, which may be another of these threads if a hypervisor placed both there. 0: the threads
/// did not begin within a millisecond of each other, or are busy.
[[nodiscard]] double processor_speed();

/// The highest stored speed of this number of threads on processors of this model, by an equally
/// compiled d5; 0 if none. Read once.
[[nodiscard]] double best_processor_speed(int threads);
/// Stores `speed` if it is higher. Does nothing if the folder cannot be written.
void keep_processor_speed(int threads, double speed);

}  // namespace d5::detail

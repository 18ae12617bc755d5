// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// How fast each of `threads()` threads computes now, all at once: operations a second of whole
/// numbers in registers, the slowest thread's median of a few tries. Takes some 50 µs. Turns of
/// other work between tries do not lower it; a lower clock does, and a neighbour in the same core,
/// which may be another of these threads, where a hypervisor put both of their processors.
/// 0: the threads did not begin within a millisecond of each other, or are at work.
[[nodiscard]] double processor_speed();

/// The highest speed that was ever kept of so many threads on processors of this model, by a d5
/// that was compiled alike; 0 where none was. Read once.
[[nodiscard]] double best_processor_speed(int threads);
/// Keeps `speed` where it is higher. A folder that cannot be written keeps nothing.
void keep_processor_speed(int threads, double speed);

}  // namespace d5::detail

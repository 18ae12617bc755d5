// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace d5::detail {

/// How fast the calling thread's processor computes now: operations a second of whole numbers in
/// registers, the fastest of a few tries. Takes some 30 µs; turns of other work between tries do
/// not lower it, a lower clock and a neighbour in the same core do.
[[nodiscard]] double processor_speed();

/// The highest speed that was ever kept of processors of this model, by a d5 that was compiled
/// alike; 0 where none was. Read once.
[[nodiscard]] double best_processor_speed();
/// Keeps `speed` where it is higher. A folder that cannot be written keeps nothing.
void keep_processor_speed(double speed);

}  // namespace d5::detail

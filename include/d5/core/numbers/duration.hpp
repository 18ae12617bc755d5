// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace d5 {

/// The time that words say: "50us", "1.5 ms", "10s", "2min", "0s"; the units are ns, us, ms, s, min
/// and h. Throws: ValueError for anything else, a time below 0 or of more than 200 years.
[[nodiscard]] std::chrono::nanoseconds duration_of(const std::string& words);
/// The same in seconds. Throws: as `duration_of`.
[[nodiscard]] double duration_seconds(const std::string& words);

/// The shortest words that `duration_of` reads back as `duration`, in one unit up to the
/// second: "50us", "90s".
[[nodiscard]] std::string duration_words(std::chrono::nanoseconds duration);

}  // namespace d5

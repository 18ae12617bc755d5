// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace d5 {

/// Parses a duration: "50us", "1.5 ms", "10s", "2min", "0s". Units: ns, us, ms, s, min and h.
/// Throws: ValueError for anything else, negative durations, and more than 200 years.
[[nodiscard]] std::chrono::nanoseconds duration_of(const std::string& words);
/// `duration_of` in seconds. Throws: as `duration_of`.
[[nodiscard]] double duration_seconds(const std::string& words);

/// The shortest text that `duration_of` parses to `duration`, in one unit up to the second: "50us",
/// "90s".
[[nodiscard]] std::string duration_words(std::chrono::nanoseconds duration);

}  // namespace d5

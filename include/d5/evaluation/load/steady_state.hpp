// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace d5 {

/// Index of the first sample after the initial transient of a series, such as latencies in the
/// order of issue. Returns nullopt if the series does not settle before its middle.
///
/// MSER-5: truncates the means of five samples where the standard error of the remaining mean is
/// least. MSER-5 alone finds a transient in up to 8 of 100 short stationary series, most often of a
/// queue. Therefore the halves must differ, too, by Welch's test on five batch means each (false
/// positive rate 1%). A series whose halves do not differ, or of fewer than 50 samples, counts as
/// settled from the start.
///
/// Source: White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output"
/// (1997), with the batches of White, Cobb and Spratt (2000); `is_smaller_p_value` for Welch's.
[[nodiscard]] std::optional<std::size_t> steady_from(std::span<const double> samples);

}  // namespace d5

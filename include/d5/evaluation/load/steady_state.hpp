// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace d5 {

/// Where a series, such as latencies in the order of asking, has settled: the first sample after
/// what the beginning disturbs; nothing if it does not settle before its middle.
///
/// MSER-5: of means of five samples, those are left out without which the rest's mean is surest.
/// Alone it calls up to 8 of 100 short series unsettled that are the same throughout, a queue's
/// most often, so that the halves have to differ, too: by Welch's test of five batch means each,
/// which is wrong once in a hundred. Where they do not, and for a series of fewer than 50, nothing
/// can be told of a beginning: it is taken as settled from there. Source: White, "An Effective
/// Truncation Heuristic for Bias Reduction in Simulation Output" (1997), with the batches of White,
/// Cobb and Spratt (2000); `is_smaller_p_value` for Welch's.
[[nodiscard]] std::optional<std::size_t> steady_from(std::span<const double> samples);

}  // namespace d5

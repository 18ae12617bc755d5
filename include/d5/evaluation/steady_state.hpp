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
/// Too short a series to tell, of fewer than 50, is taken as settled from its beginning.
/// Source: White, "An Effective Truncation Heuristic for Bias Reduction in Simulation Output"
/// (1997), with the batches of White, Cobb and Spratt (2000).
[[nodiscard]] std::optional<std::size_t> steady_from(std::span<const double> samples);

}  // namespace d5

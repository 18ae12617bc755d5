// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// Distance of each framework from the fastest, over all cases in which three or more frameworks
/// were measured interleaved. One row per framework, device and pass with at least two cases, the
/// nearest first; may be empty.
///
///     framework  pass     cases  fastest in  time / fastest  95% interval    share of peak
///     onednn     forward     15           9           1.042  [1.002, 1.083]          0.612
///     reference  forward     15           0           2.310  [1.920, 2.779]          0.276
///
/// Both numbers are geometric means. "time / fastest" averages the records "time_ratio", each
/// divided by the smallest of its case, where the base's own ratio is 1. A case without a number
/// for a framework is not counted for it. "share of peak" averages the records "share_of_peak", if
/// the machine's peak is known. A column "mistrusted" counts the cases with a mistrusted ratio, if
/// there are any.
[[nodiscard]] TextTable summary_of_fastest(const std::vector<Measurement>& measurements);

/// All summaries over several cases: `summary_of_ratios` and `summary_of_fastest`, without empty
/// ones.
[[nodiscard]] std::vector<TextTable> summaries_of(const std::vector<Measurement>& measurements);

}  // namespace d5

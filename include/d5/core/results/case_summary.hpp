// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// How far each framework is from the fastest, case by case, where three or more were measured
/// interleaved: a row for each framework, device and pass with two cases or more, the nearest
/// first. Empty where there is none.
///
///     framework  pass     cases  fastest in  time / fastest  95% interval    share of peak
///     onednn     forward     15           9           1.042  [1.002, 1.083]          0.612
///     reference  forward     15           0           2.310  [1.920, 2.779]          0.276
///
/// Both numbers are geometric means. The first is of the records "time_ratio", each over the least
/// of its case, the base's own 1 among them; a framework without a number in a case has a case
/// less. The second is of the records "share_of_peak", where the machine's peak is known. A column
/// "mistrusted" counts the cases of which a ratio is, where there are any.
[[nodiscard]] TextTable summary_of_fastest(const std::vector<Measurement>& measurements);

/// All that several cases say together, for people: `summary_of_ratios` and this, where there is
/// any.
[[nodiscard]] std::vector<TextTable> summaries_of(const std::vector<Measurement>& measurements);

}  // namespace d5

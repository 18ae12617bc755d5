// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// The measurements of a run whose system reported pieces: "ttft", "ttfa", "tpot", "stall" (a
/// record a percentile, over answers), "itl" (over tokens), "output_tokens", "output_rate"; and of
/// a run with limits: "attainment", "goodput".
///
/// Intervals: `itl` by a bootstrap of answers, because the gaps of one depend on each other;
/// `output_rate` by batch means; `attainment` by Clopper and Pearson.
/// Sources: Woodruff, "Confidence Intervals for Medians and Other Position Measures" (1952), for
/// the interval of a quantile from that of a share; Alexopoulos and Seila, "Output Data Analysis",
/// in Banks (ed.), "Handbook of Simulation" (1998), for batch means.
[[nodiscard]] std::vector<Measurement> token_measurements(const ScenarioResult& result,
                                                          std::span<const double> percentiles);

/// The record "itl": the quantile over tokens of sorted gaps, with the interval of a bootstrap of
/// answers.
[[nodiscard]] Measurement gap_record(std::span<const TokenGap> gaps, double q);

}  // namespace d5::detail

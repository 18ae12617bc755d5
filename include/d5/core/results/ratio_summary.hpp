// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// Ratio of two times in one case: the second over the first.
struct JudgedRatio {
  double ratio = 1;
  Interval interval{1, 1};  ///< NaN for too few samples
  bool mistrusted = false;
};

/// Summary of the ratios of many cases.
struct RatioSummary {
  Estimate mean{};             ///< geometric mean of all ratios
  std::size_t ratios = 0;      ///< the sum of the following counts
  std::size_t faster = 0;      ///< interval below 1
  std::size_t slower = 0;      ///< interval above 1
  std::size_t undecided = 0;   ///< interval contains 1 or is unknown
  std::size_t mistrusted = 0;  ///< regardless of the interval
};
/// Summarises ratios. An undefined mean is NaN (`geometric_mean`). Throws: nothing.
[[nodiscard]] RatioSummary summarise_ratios(std::span<const JudgedRatio> ratios);

/// The ratios of several cases, and their summary.
struct SummedRatios {
  /// Metric "mean_time_ratio", subject "12 cases", with framework, device and the conditions
  /// "base", "pass", "faster", "slower", "undecided", "mistrusted". Each sample is a case's ratio.
  Measurement record = {};
  RatioSummary summary = {};
};
/// Summarises the interleaved records "time_ratio": one summary for each framework, base, device
/// and pass with at least two cases.
[[nodiscard]] std::vector<SummedRatios> sum_up_ratios(const std::vector<Measurement>& measurements);

/// `sum_up_ratios` as a table for people, one row each; may be empty.
///
///     framework  base       pass     cases  geometric mean  95% interval    faster  slower  ...
///     torch      reference  forward     12           0.312  [0.250, 0.389]      11       0  ...
[[nodiscard]] TextTable summary_of_ratios(const std::vector<Measurement>& measurements);

/// "[0.250, 0.389]"; empty if unknown.
[[nodiscard]] std::string text_of_ratio(const Interval& interval);
/// The interval of a geometric mean; a dash if unknown.
[[nodiscard]] std::string text_of_mean(const Interval& interval);
/// The explanation of the dashes in such tables; empty without dashes.
[[nodiscard]] std::string note_on_means(const std::vector<TextTable>& tables);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5 {

/// What one case says of two times: the second over the first.
struct JudgedRatio {
  double ratio = 1;
  Interval interval{1, 1};  ///< NaN where there are too few samples
  bool mistrusted = false;
};

/// What many cases say together.
struct RatioSummary {
  Estimate mean{};             ///< the geometric one, of all
  std::size_t ratios = 0;      ///< the sum of these:
  std::size_t faster = 0;      ///< the interval lies below 1
  std::size_t slower = 0;      ///< it lies above 1
  std::size_t undecided = 0;   ///< it holds 1, or is not known
  std::size_t mistrusted = 0;  ///< whatever the interval
};
/// Throws: nothing; a mean that is not there is NaN (`geometric_mean`).
[[nodiscard]] RatioSummary summarise_ratios(std::span<const JudgedRatio> ratios);

/// The ratios of several cases, and what they say together.
struct SummedRatios {
  /// "mean_time_ratio" of "12 cases": framework and device, conditions "base", "pass", "faster",
  /// "slower", "undecided", "mistrusted"; a sample is a case's ratio.
  Measurement record = {};
  RatioSummary summary = {};
};
/// Of the records "time_ratio", which were measured interleaved: one for each framework, base,
/// device and pass that two cases or more have.
[[nodiscard]] std::vector<SummedRatios> sum_up_ratios(const std::vector<Measurement>& measurements);

/// The same for people, a row each. Empty where there is none.
///
///     framework  base       pass     cases  geometric mean  95% interval    faster  slower  ...
///     torch      reference  forward     12           0.312  [0.250, 0.389]      11       0  ...
[[nodiscard]] TextTable summary_of_ratios(const std::vector<Measurement>& measurements);

/// "[0.250, 0.389]"; empty where it is not known.
[[nodiscard]] std::string text_of_ratio(const Interval& interval);
/// That of a geometric mean; a dash where it is not known.
[[nodiscard]] std::string text_of_mean(const Interval& interval);
/// What explains the dashes in such tables; empty where there are none.
[[nodiscard]] std::string note_on_means(const std::vector<TextTable>& tables);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

struct PeakOptions {
  /// Options of each run. `latency_seconds` is the objective, for `percentile` (0: 0.99) of the
  /// latencies; `least_queries` is raised to what an interval of that percentile needs.
  ScenarioOptions run = {};
  double first_rate = 10;  ///< queries/s, like all rates below
  double highest_rate = 1e6;
  double lowest_rate = 0.1;
  double tolerance = 0.05;
  int longer = 2;  ///< times that an undecided run is repeated 4 times as long

  void declare(OptionList& options);
};

struct PeakStep {
  enum class Verdict { holds, misses, undecided };
  double rate = 0;
  std::int64_t queries = 0;
  Estimate latency{};  ///< latency of the percentile; a query without an answer counts as infinite
  Verdict verdict = Verdict::undecided;
  std::string reason = {};  ///< why a run misses, if not for its latency
  std::string doubt = {};   ///< why a run is mistrusted
};

struct Peak {
  double rate = 0;                                          ///< highest rate that held; 0: none did
  double missed = std::numeric_limits<double>::infinity();  ///< lowest rate above it that missed
  std::vector<PeakStep> steps = {};                         ///< in order of the runs
};

/// Finds the highest rate that meets a latency objective: doubles the first rate until it misses,
/// or halves it until it holds, then bisects geometrically to the tolerance.
///
/// A rate holds if the upper end of the percentile's 95% interval meets the objective, and so does
/// the percentile of the run's second half alone, where a growing queue shows. It misses if the
/// lower end is above, or if the run is invalid. In between, the run is repeated longer; a run that
/// stays undecided counts as a miss. Intervals assume independent latencies, which queued queries
/// are not: near the peak they are too narrow, which longer runs reduce.
///
///     const Peak peak = find_peak(
///         [&](double rate, const ScenarioOptions& options) {
///           return scenarios().at("poisson").make({{"rate", rate}})->run(system, options);
///         },
///         {.run = {.least_seconds = 5, .latency_seconds = 0.05}});
///
/// Throws: ValueError for inconsistent options; what a run throws.
[[nodiscard]] Peak find_peak(
    const std::function<ScenarioResult(double rate, const ScenarioOptions&)>& ask,
    const PeakOptions& options);

}  // namespace d5

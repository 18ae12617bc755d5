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
  /// Of each run. `latency_seconds` is the objective, for `percentile` (0: 0.99) of the latencies;
  /// `least_queries` are raised to what an interval of that percentile needs.
  ScenarioOptions run = {};
  double first_rate = 10;  ///< queries a second, as the rates that follow
  double highest_rate = 1e6;
  double lowest_rate = 0.1;
  double tolerance = 0.05;
  int longer = 2;  ///< times that a run which decides nothing is made 4 times as long

  void declare(OptionList& options);
};

struct PeakStep {
  enum class Verdict { holds, misses, undecided };
  double rate = 0;
  std::int64_t queries = 0;
  Estimate latency{};  ///< of the percentile; a query without an answer is later than any
  Verdict verdict = Verdict::undecided;
  std::string reason = {};  ///< of a run that misses for something else than latency
  std::string doubt = {};   ///< of a run that is mistrusted
};

struct Peak {
  double rate = 0;                                          ///< the highest that held; 0: none did
  double missed = std::numeric_limits<double>::infinity();  ///< the lowest above it that did not
  std::vector<PeakStep> steps = {};                         ///< in the order of asking
};

/// The highest rate at which an objective of latency holds: doubled from the first rate until it
/// misses, or halved until it holds, then halved between in proportion until both are within the
/// tolerance.
///
/// A rate holds if the upper end of the percentile's 95% interval is within the objective, and so
/// is the percentile of the run's second half alone: a queue that grows shows there. It misses if
/// the lower end is above, or if the run is invalid. In between, the run is repeated longer; what
/// stays undecided counts as a miss. Intervals take latencies as independent, which queries in a
/// queue are not: they are too narrow near the peak, which longer runs mend.
///
///     const Peak peak = find_peak(
///         [&](double rate, const ScenarioOptions& options) {
///           return scenarios().at("poisson").make({{"rate", rate}})->run(system, options);
///         },
///         {.run = {.least_seconds = 5, .latency_seconds = 0.05}});
///
/// Throws: ValueError for options that do not fit; what a run throws.
[[nodiscard]] Peak find_peak(
    const std::function<ScenarioResult(double rate, const ScenarioOptions&)>& ask,
    const PeakOptions& options);

}  // namespace d5

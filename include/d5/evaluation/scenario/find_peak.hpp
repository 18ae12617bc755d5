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

struct PeakStep {
  enum class Verdict { holds, misses, undecided };
  double rate = 0;
  std::int64_t queries = 0;
  Estimate latency{};  ///< latency of the percentile; a query without an answer counts as infinite
  Verdict verdict = Verdict::undecided;
  std::string reason = {};  ///< why a run misses, if not for its latency
  std::string doubt = {};   ///< why a run is mistrusted
};

/// Bounds of a search, or of the rest of one. A run of random arrivals may take a little longer.
struct PeakBound {
  int rates = 0, runs = 0;
  double seconds = 0;  ///< time of asking
};

/// A run that begins.
struct PeakAsked {
  double rate = 0;
  double seconds = 0;   ///< time of asking, about
  int again = 0;        ///< number of undecided runs before it at this rate
  PeakBound left = {};  ///< bounds of what follows it
};

struct PeakOptions {
  /// Options of each run. `latency_seconds` is the objective, for `percentile` (0: 0.99) of the
  /// latencies; `least_queries` is raised to what an interval of that percentile needs.
  ScenarioOptions run = {};
  double first_rate = 10;  ///< queries/s, like all rates below
  double highest_rate = 1e6;
  double lowest_rate = 0.1;
  double tolerance = 0.05;
  int longer = 2;           ///< times that an undecided run is repeated 4 times as long
  double most_seconds = 0;  ///< time limit of the search; 0: none
  std::function<void(const PeakAsked&)> on_asked = {};  ///< called before each run
  std::function<void(const PeakStep&)> on_step = {};    ///< called after each run

  void declare(OptionList& options);
};

struct Peak {
  double rate = 0;                                          ///< highest rate that held; 0: none did
  double missed = std::numeric_limits<double>::infinity();  ///< lowest rate above it that missed
  std::vector<PeakStep> steps = {};                         ///< in order of the runs
  std::string cut = {};  ///< why the search ended early; empty: it did not
};

/// Doubts of the runs that decided. A rate that misses cannot settle, so that this is no doubt.
[[nodiscard]] std::vector<std::string> doubts_of(const Peak& peak);

/// Bounds of a whole search. Throws: as `find_peak`.
[[nodiscard]] PeakBound peak_bound(const PeakOptions& options);

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
/// An interrupt, and the time limit, end the search with what was decided.
///
/// Throws: ValueError for inconsistent options; what a run throws, but for Interrupted.
[[nodiscard]] Peak find_peak(
    const std::function<ScenarioResult(double rate, const ScenarioOptions&)>& ask,
    const PeakOptions& options);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// A bound that a rate must keep: of a percentile of times, or of the share of good answers.
struct PeakObjective {
  enum class Of { latency, ttft, ttfa, tpot, stall, itl, attainment } of = Of::latency;
  double percentile = 0.99;  ///< as a share; unused for an attainment
  double limit = 0;          ///< longest time in s; of an attainment the least share
};
/// "latency", "ttft", ...: the metric that it limits.
[[nodiscard]] std::string_view name_of(PeakObjective::Of of);

struct PeakStep {
  enum class Verdict { holds, misses, undecided };
  double rate = 0;
  std::int64_t queries = 0;
  /// What each objective limits, in their order: metric, samples and statistic.
  std::vector<Measurement> numbers = {};
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
  /// Options of each run, without an objective of its own. `least_queries` is raised to what the
  /// objectives' intervals need; `limits` are those of an attainment.
  ScenarioOptions run = {};
  std::vector<PeakObjective> objectives = {};  ///< one or more; a rate holds if all do
  double first_rate = 10;                      ///< queries/s, like all rates below
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

/// Finds the highest rate that meets all objectives: doubles the first rate until it misses,
/// or halves it until it holds, then bisects geometrically to the tolerance.
///
/// An objective holds at a rate if the upper end of its 95% interval meets it, and so does the
/// run's second half alone, where a growing queue shows. It is missed if the lower end is above, or
/// if the run is invalid. A rate at which none is missed, but not all hold, is repeated longer; one
/// that stays undecided counts as a miss. Of an attainment the ends are the other way round, and
/// the interval is that of Clopper and Pearson. Intervals assume independent latencies, which
/// queued queries are not: near the peak they are too narrow, which longer runs reduce.
///
///     const Peak peak = find_peak(
///         [&](double rate, const ScenarioOptions& options) {
///           return scenarios().at("poisson").make({{"rate", rate}})->run(system, options);
///         },
///         {.run = {.least_seconds = 5}, .objectives = {{.percentile = 0.99, .limit = 0.05}}});
///
/// An interrupt, and the time limit, end the search with what was decided.
///
/// Throws: ValueError for inconsistent options; Unsupported for an objective of tokens where the
/// system reports none; what a run throws, but for Interrupted.
[[nodiscard]] Peak find_peak(
    const std::function<ScenarioResult(double rate, const ScenarioOptions&)>& ask,
    const PeakOptions& options);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/evaluation/scenario/find_peak.hpp"

namespace d5 {

/// A latency bound: a service level objective.
struct LatencyObjective {
  double percentile = 0.99;  ///< as a share: 0.999 for "p99.9"
  double seconds = 0;
};
/// Parses "p99<=50ms", "p90 <= 0.2 s". Throws: ValueError.
[[nodiscard]] LatencyObjective objective_of_words(const std::string& words);

struct PeakWorkOptions {
  EntryChoice scenario = {"poisson"};  ///< one with an option "rate"
  /// The search; its `run` has the objective. The evaluation's `seconds`, `queries` and `seed` take
  /// precedence over those of `run` if they are not 0.
  PeakOptions search = {};
  std::string command_options = {};  ///< at the end of every record's command
  /// Called as the search's own, with the name of the piece.
  std::function<void(const std::string& piece, const PeakAsked&)> on_asked = {};
  std::function<void(const std::string& piece, const PeakStep&)> on_step = {};
};

/// The pieces of work, one per model, framework and batch size: the highest rate that meets the
/// objective, as the record "peak_rate", and "latency_at_rate" for each rate that was tried, with
/// all latencies of that run and its verdict.
///
/// If no rate holds, the record is failed. A search that an interrupt or its time limit ends is
/// mistrusted, or skipped if no rate held so far; the rates that it tried are kept. `evaluation`
/// outlives the pieces. Throws: ValueError for limits of a good answer, which no search has.
[[nodiscard]] std::vector<WorkPiece> peak_work(const FixedEvaluation& evaluation,
                                               PeakWorkOptions options);
/// Bounds of each of them. Throws: ValueError for inconsistent options.
[[nodiscard]] PeakBound peak_bound(const FixedEvaluation& evaluation,
                                   const PeakWorkOptions& options);

}  // namespace d5

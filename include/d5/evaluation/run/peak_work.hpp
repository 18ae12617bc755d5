// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/measuring/work_list.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/evaluation/scenario/find_peak.hpp"

namespace d5 {

/// What latencies must hold to: a service level objective.
struct LatencyObjective {
  double percentile = 0.99;  ///< a share: of "p99.9" 0.999
  double seconds = 0;
};
/// From "p99<=50ms", "p90 <= 0.2 s". Throws: ValueError.
[[nodiscard]] LatencyObjective objective_of_words(const std::string& words);

struct PeakWorkOptions {
  EntryChoice scenario = {"poisson"};  ///< one with an option "rate"
  /// The search; its `run` has the objective. The evaluation's `seconds`, `queries` and `seed`
  /// stand before those of `run` where they are not 0.
  PeakOptions search = {};
  std::string command_options = {};  ///< at the end of every record's command
};

/// A piece a model, framework and size of batch: the highest rate at which the objective holds, as
/// the record "peak_rate", and "latency_at_rate" for each rate that was tried, with all latencies
/// of that run and what became of it.
///
/// Where no rate holds the record is failed. `evaluation` outlives the pieces.
[[nodiscard]] std::vector<WorkPiece> peak_work(const FixedEvaluation& evaluation,
                                               PeakWorkOptions options);

}  // namespace d5

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

/// Parses service level objectives: "p99<=50ms" of the latency, "ttft.p99<=0.5s,itl.p99 <= 50 ms",
/// "attainment>=99%". Throws: ValueError.
[[nodiscard]] std::vector<PeakObjective> objectives_of_words(const std::string& words);

struct PeakWorkOptions {
  EntryChoice scenario = {"poisson"};  ///< one with an option "rate", which the search gives
  /// The search, with its objectives. The evaluation's `seconds`, `queries`, `seed` and limits of a
  /// good answer take precedence over those of `run` if they are not 0.
  PeakOptions search = {};
  std::string command_options = {};  ///< at the end of every record's command
  /// Called as the search's own, with the name of the piece.
  std::function<void(const std::string& piece, const PeakAsked&)> on_asked = {};
  std::function<void(const std::string& piece, const PeakStep&)> on_step = {};
};

/// The pieces of work, one per model, framework and batch size: the highest rate that meets the
/// objectives, as the record "peak_rate"; with an attainment also "goodput", the share of good
/// answers at that rate times the rate; and for each rate that was tried and each objective
/// "latency_at_rate", "ttft_at_rate", ... with all numbers of that run and its verdict.
///
/// If no rate holds, the record is failed. A search that an interrupt or its time limit ends is
/// mistrusted, or skipped if no rate held so far; the rates that it tried are kept. `evaluation`
/// outlives the pieces. Throws: ValueError for a scenario with a rate of its own; for limits of a
/// good answer without an attainment, and the other way round.
[[nodiscard]] std::vector<WorkPiece> peak_work(const FixedEvaluation& evaluation,
                                               PeakWorkOptions options);
/// Bounds of each of them. Throws: ValueError for inconsistent options.
[[nodiscard]] PeakBound peak_bound(const FixedEvaluation& evaluation,
                                   const PeakWorkOptions& options);

}  // namespace d5

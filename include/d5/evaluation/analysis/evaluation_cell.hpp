// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"

namespace d5 {

/// One cell of an evaluation's matrix, with what was measured of it: a model, in a framework, under
/// a scenario, with a size of batch.
struct EvaluationCell {
  std::string run;  ///< name of the run
  std::string subject, framework, device, scenario, batch, threads;
  std::string trace_level;                  ///< empty: none
  std::vector<const Measurement*> records;  ///< of the runs that were given, which outlive it
  const Measurement* accuracy = nullptr;    ///< of its model in its framework; null: not measured
  const Measurement* cold_start = nullptr;  ///< likewise
  const Measurement* first_predict = nullptr;  ///< likewise

  /// The first record of a metric; null if there is none. A cell that was repeated has others.
  [[nodiscard]] const Measurement* find(std::string_view metric) const;
  /// Of all repetitions, in the order in which they were recorded, each sample once: records of
  /// several percentiles of a run hold the same samples.
  [[nodiscard]] std::vector<double> samples_of(std::string_view metric) const;
  /// From all latencies: seconds. Nothing where none were measured.
  [[nodiscard]] std::optional<Estimate> latency(double quantile) const;
  [[nodiscard]] std::optional<Estimate> throughput() const;  ///< samples a second
  /// Of a metric that a run of the cell has one number of: over repetitions, their median. Nothing
  /// where it was not measured.
  [[nodiscard]] std::optional<Estimate> of_repetitions(std::string_view metric) const;
  /// Of one of its records; nothing of null, and of one without samples.
  [[nodiscard]] static std::optional<Estimate> estimate_of(const Measurement* record);
  /// The worst status of its records, with the reason.
  [[nodiscard]] Status status() const;
  [[nodiscard]] std::string reason() const;
};

/// All cells of runs, in their order. `runs` outlives them.
[[nodiscard]] std::vector<EvaluationCell> evaluation_cells(std::span<const AnalysedRun> runs);

/// What tells each cell from the others: "torch server batch 8" where all are of one model.
[[nodiscard]] std::vector<std::string> names_of(std::span<const EvaluationCell> cells);

}  // namespace d5

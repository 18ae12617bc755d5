// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"

namespace d5 {

/// One cell of an evaluation's matrix with its records: a model in a framework, under a scenario,
/// with a batch size.
struct EvaluationCell {
  std::string run;  ///< name of the run
  std::string subject, framework, device, scenario, batch, threads;
  std::string trace_level;                  ///< empty: without a trace
  std::vector<const Measurement*> records;  ///< records of the given runs, which outlive the cell
  /// Accuracy of the model in the framework; null: not measured.
  const Measurement* accuracy = nullptr;
  const Measurement* cold_start = nullptr;     ///< null: not measured
  const Measurement* first_predict = nullptr;  ///< null: not measured

  /// The first record of a metric; null if there is none. A repeated cell has several.
  [[nodiscard]] const Measurement* find(std::string_view metric) const;
  /// The metric's samples of all repetitions, in order. Each sample counts once, although the
  /// record of each percentile of a run holds all samples.
  [[nodiscard]] std::vector<double> samples_of(std::string_view metric) const;
  /// A statistic of the metric's samples of all repetitions. Returns nullopt if none were measured.
  [[nodiscard]] std::optional<Estimate> pooled(std::string_view metric,
                                               const Statistic& statistic) const;
  /// A quantile of all latencies, in s. Returns nullopt if none were measured.
  [[nodiscard]] std::optional<Estimate> latency(double quantile) const;
  [[nodiscard]] std::optional<Estimate> throughput() const;  ///< in samples/s
  /// A metric with one value per run of the cell: the median over repetitions. Returns nullopt if
  /// it was not measured.
  [[nodiscard]] std::optional<Estimate> of_repetitions(std::string_view metric) const;
  /// The estimate of one record; nullopt for null, and for a record without samples.
  [[nodiscard]] static std::optional<Estimate> estimate_of(const Measurement* record);
  /// The worst status of its records, with the reason.
  [[nodiscard]] Status status() const;
  [[nodiscard]] std::string reason() const;
};

/// All cells of runs, in order. `runs` outlives them.
[[nodiscard]] std::vector<EvaluationCell> evaluation_cells(std::span<const AnalysedRun> runs);

/// The parts of each cell's description that differ between cells: "torch server batch 8" if all
/// have one model.
[[nodiscard]] std::vector<std::string> names_of(std::span<const EvaluationCell> cells);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/report/plot.hpp"
#include "d5/core/report/report.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/core/trace/timeline.hpp"

namespace d5 {

/// What is analysed: a run's records, and its traces where it has some.
struct AnalysedRun {
  std::string name = {};  ///< a file, or the id of a run; shown where there are several
  Results results = {};
  std::vector<Timeline> traces = {};
};

/// What an analysis says; nothing, where the runs hold nothing for it.
struct AnalysisResult {
  TextTable table;
  std::vector<Plot> plots = {};
};

/// A question about one run or many that tables and plots answer: how latency is spread, what a
/// layer costs. It measures nothing.
class Analysis {
 public:
  virtual ~Analysis() = default;
  [[nodiscard]] virtual AnalysisResult analyse(std::span<const AnalysedRun> runs) const = 0;
};

using AnalysisEntry = Entry<std::shared_ptr<Analysis>()>;
/// By name; src/evaluation/analysis/analyses has the built-in ones, one file each.
///
///     const auto result = analyses().at("latency").make()->analyse(runs);
///     std::cout << result.table.to_text(Format::table);
[[nodiscard]] Registry<AnalysisEntry>& analyses();

/// The plots of all analyses, with their defaults, that have something to say of the runs, besides
/// those that a report has of their records by itself (`plots_of`).
[[nodiscard]] std::vector<Plot> analysis_plots(std::span<const AnalysedRun> runs);

/// Files as runs: results files each, and traces, which belong to the results file before them, or
/// to the first. Throws: IoError, FormatError; ValueError without a results file.
[[nodiscard]] std::vector<AnalysedRun> read_runs(const std::vector<std::string>& files);
[[nodiscard]] std::vector<AnalysedRun> runs_of(const Report& report);

}  // namespace d5

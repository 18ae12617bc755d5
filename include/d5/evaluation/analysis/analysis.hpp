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

/// A run to analyse: its records, and its traces if it has any.
struct AnalysedRun {
  std::string name = {};  ///< a file, or the id of a run; shown if there are several runs
  Results results = {};
  std::vector<Timeline> traces = {};
};

/// The result of an analysis; empty if the runs hold nothing for it.
struct AnalysisResult {
  TextTable table;
  std::vector<Plot> plots = {};
};

/// Answers a question about one or more runs with tables and plots, such as the spread of latency,
/// or the cost of layers. Measures nothing.
class Analysis {
 public:
  virtual ~Analysis() = default;
  [[nodiscard]] virtual AnalysisResult analyse(std::span<const AnalysedRun> runs) const = 0;
};

using AnalysisEntry = Entry<std::shared_ptr<Analysis>()>;
/// All analyses by name. The built-in ones are in src/evaluation/analysis/analyses, one file each.
///
///     const auto result = analyses().at("latency").make()->analyse(runs);
///     std::cout << result.table.to_text(Format::table);
[[nodiscard]] Registry<AnalysisEntry>& analyses();

/// The non-empty plots of all analyses of the runs, with default options, besides those that a
/// report draws by itself (`plots_of`).
[[nodiscard]] std::vector<Plot> analysis_plots(std::span<const AnalysedRun> runs);

/// Reads files as runs: each results file is one. A trace belongs to the results file before it, or
/// else to the first. Throws: IoError, FormatError; ValueError without a results file.
[[nodiscard]] std::vector<AnalysedRun> read_runs(const std::vector<std::string>& files);
[[nodiscard]] std::vector<AnalysedRun> runs_of(const Report& report);

}  // namespace d5

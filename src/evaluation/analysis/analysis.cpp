// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/analysis.hpp"

#include <algorithm>
#include <iterator>

#include "d5/core/errors/error.hpp"

namespace d5 {

std::vector<Plot> analysis_plots(std::span<const AnalysedRun> given) {
  // A report draws a profile's records itself (`plots_of`).
  std::vector<AnalysedRun> runs(given.begin(), given.end());
  for (auto& run : runs) {
    std::erase_if(run.results.measurements,
                  [](const Measurement& record) { return !condition_of(record, "by").empty(); });
  }
  std::vector<Plot> plots;
  for (const auto& [name, entry] : analyses().entries()) {
    std::ranges::move(entry.make()->analyse(runs).plots, std::back_inserter(plots));
  }
  return plots;
}

std::vector<AnalysedRun> runs_of(const Report& report) {
  std::vector<AnalysedRun> runs;
  for (const auto& [name, results] : report.sources) runs.push_back({name, results});
  return runs;
}

std::vector<AnalysedRun> read_runs(const std::vector<std::string>& files) {
  std::vector<AnalysedRun> runs;
  std::vector<Timeline> waiting;  // for the first results file
  for (const auto& file : files) {
    Report report = read_report({file});
    if (!report.sources.empty()) {
      runs.push_back({file, std::move(report.sources.front().results)});
    } else {
      (runs.empty() ? waiting : runs.back().traces).push_back(read_timeline(file));
    }
  }
  if (runs.empty()) throw ValueError("no results file was given to analyse");
  std::ranges::move(waiting, std::back_inserter(runs.front().traces));
  return runs;
}

}  // namespace d5

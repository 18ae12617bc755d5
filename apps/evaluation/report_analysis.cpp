// SPDX-License-Identifier: Apache-2.0
#include "apps/report_analysis.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "apps/evaluation/analysed_runs.hpp"
#include "apps/publish.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"
#include "d5/evaluation/analysis/analysis.hpp"

namespace d5::app {

std::string analysis_example() {
  return R"(
  d5 report profile.json --analysis layers:by=type
                                             which nodes take the time ('d5 list analyses'))";
}

void add_analysis_option(CLI::App& command, std::string& analysis) {
  command.add_option("--analysis", analysis, "analysis to print ('d5 list analyses')")
      ->option_text("NAME[:KEY=VALUE]...");
}

void print_analysis(const std::string& analysis, const std::vector<std::string>& files,
                    Format format, const std::string& plot) {
  EntryChoice choice = entry_of_words("analysis", analysis);
  choice.name = meant_name(choice.name, analyses().names());
  const auto part = analyses().at(choice.name).make(choice.settings);
  AnalysisResult result = part->analyse(analysed_runs(files, "", StoredTraces::with));
  if (result.table.size() == 0) {
    throw ValueError(fmt::format(
        "report: the results hold nothing for the analysis {}: {}; the traces of an evaluation are "
        "in its database, where it is found by its run's id ('d5 eval history')",
        choice.name, analyses().at(choice.name).summary()));
  }
  if (is_drawn(format)) {
    const Report report{.title = choice.name, .plots = std::move(result.plots)};
    print(to_text(report, format, plot), format);
  } else {
    print(result.table, format);
  }
}

std::vector<Plot> plots_of_analyses(const std::vector<std::string>& files) {
  return analysis_plots(read_runs(files));
}

}  // namespace d5::app

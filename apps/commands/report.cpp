// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "apps/kept_results.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/report_analysis.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"
#include "d5/level0_ops/judge/source_verdict.hpp"
#include "d5/level2_training/validation/training_report.hpp"
#include "d5/level3_distributed/schemes/communication_volume.hpp"
#include "d5/level3_distributed/schemes/late_arrivals.hpp"
#include "d5/level3_distributed/schemes/scaling_table.hpp"

namespace d5::command {
namespace {

constexpr const char* kReportExamples =
    R"(  d5 report results.json                     a table of the measurements
  d5 report monday.json tuesday.json --format html > report.html
                                             one page to send to a colleague: plots, tables,
                                             environment, commands
  d5 report run.json run.trace.json --format html > report.html
                                             with the timeline that --trace wrote
  d5 report results.json --format svg --plot samples-time > figure.svg
                                             one plot for a paper
  d5 report monday.json tuesday.json --format markdown > report.md
  d5 report results.json --format csv > results.csv
  d5 report results.json --pivot framework    cases by frameworks, with geometric means
  d5 report runs.json --format svg --plot time_to_accuracy-over-seeds > seeds.svg
                                             results of train --repeat or --vary, or optimizer check
  d5 report one.json two.json four.json --scaling
                                             speed-up and efficiency over ranks, and the share of
                                             communication ('train --metrics communication_time')
  d5 report tiled.json blas.json --board     judged sources, the fastest right one first
  d5 report run.trace.json --arrivals        which rank made which wait, in a trace of several)";

struct ReportOptions : app::OutputOptions {
  std::vector<std::string> files;
  std::string plot, analysis;
  bool scaling = false, arrivals = false, board = false;
};

/// All records, under the environment of the first file.
Results joined_results(const Report& report, const ReportOptions& options) {
  if (!report.plots.empty()) {
    throw ValueError(
        "report: a trace is drawn, and has no table: add --format html > report.html, or svg or "
        "png; ui.perfetto.dev opens the file as it is");
  }
  const bool is_rows = !options.scaling && !options.board;
  if (is_rows && report.sources.size() > 1 &&
      (options.format == Format::json || !options.out.empty())) {
    throw ValueError(
        "report: results of several files have several environments, and do not fit one file; give "
        "one file, or choose table, csv, markdown or html");
  }
  Results all = report.sources.front().results;
  for (std::size_t i = 1; i < report.sources.size(); ++i) {
    const auto& [name, next] = report.sources[i];
    if (next.environment.hostname != all.environment.hostname && !options.quiet) {
      app::say(fmt::format("note: {} is from another machine than {}", printable(name),
                           printable(report.sources.front().name)));
    }
    all.measurements.insert(all.measurements.end(), next.measurements.begin(),
                            next.measurements.end());
  }
  return all;
}

/// Prints rows, for people with a table for each training of several runs.
void print_rows(const Results& all, const ReportOptions& options) {
  const bool apart = is_for_people(options.format) && options.pivot.empty();
  const auto groups =
      apart ? repeated_training_groups(all.measurements) : std::vector<std::vector<Measurement>>{};
  if (groups.empty()) return app::print(all, options);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i > 0) app::print("\n", options.format);
    app::print(Results{all.environment, groups[i]}, options);
  }
}

/// Throws: ValueError for an option that the command would ignore.
void check_report_usage(const ReportOptions& options) {
  const bool others = !options.out.empty() || !options.pivot.empty() || !options.plot.empty();
  const bool is_table = options.scaling || options.arrivals || options.board;
  if (is_table && (others || is_drawn(options.format))) {
    throw ValueError(
        "report: --scaling, --arrivals and --board print tables of their own; leave out --out, "
        "--pivot and --plot");
  }
  if (!options.analysis.empty() && (is_table || !options.out.empty() || !options.pivot.empty())) {
    throw ValueError(
        "report: --analysis prints its own table or plots; leave out --scaling, --arrivals, "
        "--board, --out and --pivot");
  }
  if (options.scaling && options.board) {
    throw ValueError("report: --scaling and --board print one table each; choose one");
  }
  const bool others_too = options.scaling || options.board;
  if (options.arrivals && (others_too || options.files.size() != 1)) {
    throw ValueError("report: --arrivals needs one trace of all ranks, which --trace wrote");
  }
}

int run_report(const ReportOptions& options) {
  check_report_usage(options);
  for (const std::string& file : options.files) app::expect_no_database(file);
  if (!options.analysis.empty()) {
    app::print_analysis(options.analysis, options.files, options.format, options.plot);
    return app::kPassed;
  }
  if (options.arrivals) {
    const auto arrivals = late_arrivals(read_timeline(options.files.front()));
    app::print(late_arrivals_table(arrivals), options.format);
    return app::kPassed;
  }
  Report report = read_report(options.files);
  if (options.scaling) {
    app::print(scaling_table(joined_results(report, options).measurements), options.format);
    return app::kPassed;
  }
  if (options.board) {
    app::print(judge_board(joined_results(report, options).measurements), options.format);
    return app::kPassed;
  }
  if (!options.plot.empty() && options.format != Format::svg && options.format != Format::png) {
    throw ValueError("report: --plot chooses what --format svg or png draws");
  }
  if (is_drawn(options.format) && options.out.empty()) {
    std::ranges::move(training_plots(report.sources), std::back_inserter(report.plots));
    for (const auto& source : report.sources) {
      std::ranges::move(volume_plots(source.results.measurements),
                        std::back_inserter(report.plots));
    }
    if (!report.sources.empty()) {
      std::ranges::move(app::plots_of_analyses(options.files), std::back_inserter(report.plots));
    }
    app::print(to_text(report, options.format, options.plot), options.format);
  } else {
    const Results all = joined_results(report, options);
    print_rows(all, options);
    if (!options.out.empty()) write_results(all, options.out);
  }
  int status = app::kPassed;
  for (const auto& source : report.sources) {
    status = std::max(status, exit_status(source.results.measurements, options.if_unsupported));
  }
  return status;
}

}  // namespace

void register_report(app::Program& program) {
  auto options = std::make_shared<ReportOptions>();
  auto& command = program.add("report", "make tables, plots and pages from results files",
                              kReportExamples + app::analysis_example(),
                              [options] { return run_report(*options); });
  command
      .add_option(
          "RESULT", options->files,
          "results files that --out wrote, traces that --trace wrote, and for --analysis also "
          "ids of kept runs")
      ->required();
  command.add_option("--plot", options->plot, "name of the plot, for --format svg and png")
      ->option_text("NAME");
  app::add_analysis_option(command, options->analysis);
  command.add_flag("--arrivals", options->arrivals,
                   "print from a trace how long each rank waited in collectives for which other");
  command.add_flag("--scaling", options->scaling,
                   "print a table of times by ranks, with speed-up, efficiency and communication");
  command.add_flag("--board", options->board,
                   "print a table of judged sources, the fastest right one first ('op judge')");
  app::add_pivot_option(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command

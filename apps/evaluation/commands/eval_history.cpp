// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/say.hpp"
#include "d5/core/report/report.hpp"
#include "d5/evaluation/analysis/result_history.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalHistoryExamples =
    R"(  d5 eval history                                      the runs in the database, newest first
  d5 eval history "efficientnet-lite0*" --metric top1  each version over time, and the best
  d5 eval history "lenet*" --framework torch --metric throughput --since 2026-11-01
  d5 eval history "lenet*" --metric latency --format svg > history.svg
  d5 eval history --database postgresql://user@host/results

A series is a subject without its version, with framework, device, metric, conditions and machine. A
record that passed and beats all before it in its series was the best at that time; the last of these
is the best.)";

struct EvalHistoryOptions : app::OutputOptions {
  std::string database, plot;
  RecordFilter filter;
  std::size_t limit = PageAsked{}.limit;  // all
};

TextTable runs_table(const std::vector<StoredRun>& runs) {
  using enum TextTable::Align;
  TextTable table({"time",
                   "run",
                   "evaluation",
                   "what",
                   {"records", right},
                   {"not passed", right},
                   "host",
                   "command"});
  for (const auto& run : runs) {
    table.add({run.time, run.id.substr(0, 8), run.key.substr(0, 8), run.title,
               std::to_string(run.records),
               run.not_passed > 0 ? std::to_string(run.not_passed) : "", run.hostname,
               run.command});
  }
  table.drop_empty_columns();
  return table;
}

int run_eval_history(const EvalHistoryOptions& options) {
  const auto database = app::open_database(options.database);
  const auto say_cut = [&](const std::string& of) {
    if (!options.quiet) {
      app::say(fmt::format("the newest {}{}; a larger --limit shows more", options.limit, of));
    }
  };
  if (options.filter.subject.empty() && options.filter.metric.empty()) {
    const auto runs = database->runs(options.filter, {.limit = options.limit});
    app::print(runs_table(runs.items), options.format);
    if (!runs.next.empty()) say_cut(" runs");
    return app::kPassed;
  }
  const auto [history, all] = stored_history(
      *database, options.filter, {.from = HistoryPart::From::newest, .limit = options.limit});
  if (is_drawn(options.format)) {
    const Report report{.title = "History", .plots = history_plots(history)};
    app::print(to_text(report, options.format, options.plot), options.format);
  } else {
    app::print(history_table(history), options.format);
  }
  if (history.size() < all) say_cut(fmt::format(" of {} records", all));
  return app::kPassed;
}

}  // namespace

void register_eval_history(app::Program& program) {
  auto options = std::make_shared<EvalHistoryOptions>();
  auto& command =
      program.add("eval history", "show runs, or measurements over time with the best",
                  kEvalHistoryExamples, [options] { return run_eval_history(*options); });
  command.add_option("SUBJECT", options->filter.subject,
                     "subject of the records; * matches any text, as in \"lenet@*\"");
  app::add_filter_options(command, options->filter);
  command.add_option("--plot", options->plot, "name of the plot, for --format svg and png")
      ->option_text("NAME");
  command.add_option("--limit", options->limit, "show only the newest N")
      ->option_text("N")
      ->check(CLI::Range(1, 1'000'000));
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options, app::kPlotFormats);
}

}  // namespace d5::command

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalExportExamples =
    R"(  d5 eval export 3f9ac2d1 --to run.json          a results file, as --out writes it
  d5 eval export 3f9ac2d1 77b0 --to some.db      everything of two runs, with queries and answers
  d5 eval export --all --to postgresql://user@host/results
                                                 the whole database; runs that exist stay as they are)";

struct EvalExportOptions : app::OutputOptions {
  std::string database, to;
  std::vector<std::string> runs;
  bool all = false;
};

int run_eval_export(const EvalExportOptions& options) {
  if (options.all == !options.runs.empty()) {
    throw ValueError("eval export: name the runs, or give --all");
  }
  const auto database = app::open_database(options.database);
  std::vector<std::string> runs;
  for (const auto& run : options.runs) runs.push_back(database->run_id(run));
  if (options.all) {
    for (const auto& run : database->runs()) runs.push_back(run.id);
  }
  if (options.to.ends_with(".json")) {
    if (runs.size() != 1) {
      throw ValueError(
          fmt::format("eval export: a results file holds one run, and these are {}; give a "
                      "database (a name that does not end in .json)",
                      runs.size()));
    }
    write_results(database->results(runs.front()), options.to);
  } else {
    const auto target = EvaluationDatabase::open(options.to);
    for (const auto& run : runs) target->copy_from(*database, run);
  }
  if (!options.quiet) {
    app::say(fmt::format("{} run{} written", runs.size(), runs.size() == 1 ? "" : "s"));
  }
  return app::kPassed;
}

}  // namespace

void register_eval_export(app::Program& program) {
  auto options = std::make_shared<EvalExportOptions>();
  auto& command = program.add("eval export", "copy runs to a results file or another database",
                              kEvalExportExamples, [options] { return run_eval_export(*options); });
  command.add_option("RUN", options->runs, "ids ('d5 eval history'), or their beginnings");
  command.add_flag("--all", options->all, "export every run");
  command.add_option("--to", options->to, "destination: FILE.json, or a database's address")
      ->option_text("FILE|ADDRESS")
      ->required();
  app::add_database_option(command, options->database);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command

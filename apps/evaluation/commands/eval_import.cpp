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

constexpr const char* kEvalImportExamples =
    R"(  d5 eval import results.json more.json      results files that --out wrote, of any command
  d5 eval import other.db --database all.db   every run of another database

Prints the ids. Runs that exist stay as they are: importing twice changes nothing.)";

struct EvalImportOptions : app::OutputOptions {
  std::string database;
  std::vector<std::string> from;
};

int run_eval_import(const EvalImportOptions& options) {
  const auto database = app::open_database(options.database, EvaluationDatabase::Access::write);
  for (const auto& from : options.from) {
    if (from.ends_with(".json")) {
      fmt::print("{}\n", database->add(read_results(from)));
      continue;
    }
    const auto source =
        EvaluationDatabase::open(from, {.access = EvaluationDatabase::Access::read});
    for (const auto& run : source->runs()) {
      database->copy_from(*source, run.id);
      fmt::print("{}\n", run.id);
    }
  }
  return app::kPassed;
}

}  // namespace

void register_eval_import(app::Program& program) {
  auto options = std::make_shared<EvalImportOptions>();
  auto& command =
      program.add("eval import", "copy results files and other databases into a database",
                  kEvalImportExamples, [options] { return run_eval_import(*options); });
  command.add_option("FILE", options->from, "results file FILE.json, or a database's address")
      ->required();
  app::add_database_option(command, options->database);
  app::add_quiet_option(command, *options);
}

}  // namespace d5::command

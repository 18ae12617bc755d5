// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "apps/evaluation/analysed_runs.hpp"
#include "apps/evaluation/database_options.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/publish.hpp"
#include "apps/value_checks.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/analysis/evaluation_choice.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalChooseExamples =
    R"(  d5 eval choose results.json --accuracy ">=0.75" --p99 "<=50ms" --minimise cost --price 0.34
  d5 eval choose 3f9ac2d1 77b0 --accuracy ">=90%" --maximise throughput
                                         runs of the database ('d5 eval history')
  d5 eval choose results.json --minimise p99

What failed, or is mistrusted, is not chosen. A number must be within its limit; where its interval
reaches across, that is said as a doubt. The status is 1 if nothing will do.)";

struct EvalChooseOptions : app::OutputOptions {
  std::string database, minimise, maximise;
  std::vector<std::string> runs;
  std::map<std::string, std::string> limits;
  double price = 0;
};

ChoiceOptions chosen_by(const EvalChooseOptions& options) {
  if (options.minimise.empty() == options.maximise.empty()) {
    throw ValueError(
        "eval choose: say what is best: --minimise cost, or --maximise throughput, ...");
  }
  ChoiceOptions wishes{.price_per_hour = options.price};
  const bool smallest = options.maximise.empty();
  wishes.objective = smallest ? options.minimise : options.maximise;
  wishes.wish = smallest ? ChoiceOptions::Wish::minimise : ChoiceOptions::Wish::maximise;
  for (const auto& [number, words] : options.limits) {
    if (!words.empty()) wishes.requirements.push_back(requirement_of(number, words));
  }
  return wishes;
}

int run_eval_choose(const EvalChooseOptions& options) {
  const ChoiceOptions wishes = chosen_by(options);
  const auto runs = app::analysed_runs(options.runs, options.database);
  const auto cells = evaluation_cells(runs);
  if (cells.empty()) {
    throw ValueError("eval choose: there is no evaluation's scenario in what was given");
  }
  const auto candidates = choose(cells, wishes);
  app::print(choice_table(candidates, wishes), options.format);
  return candidates.front().why_not.empty() ? app::kPassed : app::kFailed;
}

}  // namespace

void register_eval_choose(app::Program& program) {
  auto options = std::make_shared<EvalChooseOptions>();
  auto& command =
      program.add("eval choose", "which model, framework and batch will do, and the best",
                  kEvalChooseExamples, [options] { return run_eval_choose(*options); });
  app::add_runs_argument(command, options->runs);
  for (const auto& number : choice_numbers()) {
    std::string name = "--" + number;
    std::ranges::replace(name, '_', '-');
    command
        .add_option(name, options->limits[number], "what it must be: \">=NUMBER\" or \"<=NUMBER\"")
        ->option_text("LIMIT")
        ->group("What it must be");
  }
  command.add_option("--minimise", options->minimise, "what is best small: p99, cost, ...")
      ->option_text("NUMBER");
  command.add_option("--maximise", options->maximise, "what is best large: throughput, accuracy")
      ->option_text("NUMBER");
  command.add_option("--price", options->price, "of an hour of the machine, for cost")
      ->transform(app::positive_number())
      ->option_text("MONEY");
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options);
}

}  // namespace d5::command

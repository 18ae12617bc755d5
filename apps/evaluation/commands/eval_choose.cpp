// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "apps/evaluation/analysed_runs.hpp"
#include "apps/evaluation/database_options.hpp"
#include "apps/evaluation/evaluation_options.hpp"
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

Failed and mistrusted records are not chosen. A number must be within its limit; if its interval
crosses the limit, the table notes a doubt. Exit status 1 if nothing meets the limits.)";

struct EvalChooseOptions : app::OutputOptions {
  std::string database, minimise, maximise;
  std::vector<std::string> runs;
  std::map<std::string, std::string> limits;
  double price = 0;
  std::string currency = ChoiceOptions().currency;
};

ChoiceOptions chosen_by(const EvalChooseOptions& options) {
  if (options.minimise.empty() == options.maximise.empty()) {
    throw ValueError(
        "eval choose: name an objective: --minimise cost, or --maximise throughput, ...");
  }
  ChoiceOptions wishes{.price_per_hour = options.price, .currency = options.currency};
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
    throw ValueError("eval choose: the results hold no scenario of an evaluation");
  }
  const auto candidates = choose(cells, wishes);
  app::print(choice_table(candidates, wishes), options.format);
  return candidates.front().why_not.empty() ? app::kPassed : app::kFailed;
}

}  // namespace

void register_eval_choose(app::Program& program) {
  auto options = std::make_shared<EvalChooseOptions>();
  auto& command =
      program.add("eval choose", "choose the best model, framework and batch within limits",
                  kEvalChooseExamples, [options] { return run_eval_choose(*options); });
  app::add_runs_argument(command, options->runs);
  for (const auto& number : choice_numbers()) {
    std::string name = "--" + number;
    std::ranges::replace(name, '_', '-');
    command.add_option(name, options->limits[number], "limit, as \">=NUMBER\" or \"<=NUMBER\"")
        ->option_text("LIMIT")
        ->group("Limits");
  }
  command.add_option("--minimise", options->minimise, "quantity to minimise: p99, cost, ...")
      ->option_text("NUMBER");
  command.add_option("--maximise", options->maximise, "quantity to maximise: throughput, accuracy")
      ->option_text("NUMBER");
  command
      .add_option("--price", options->price,
                  "price of an hour of the machine, for the cost of a million predictions")
      ->transform(app::positive_number())
      ->option_text("MONEY");
  app::add_currency_option(command, options->currency);
  app::add_database_option(command, options->database);
  app::add_format_options(command, *options);
}

}  // namespace d5::command

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "apps/ctrl_c.hpp"
#include "apps/evaluation/database_options.hpp"
#include "apps/evaluation/evaluation_on_server.hpp"
#include "apps/evaluation/evaluation_options.hpp"
#include "apps/given_line.hpp"
#include "apps/kept_results.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/say.hpp"
#include "apps/value_checks.hpp"
#include "apps/work_list.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "d5/evaluation/run/evaluation_lock.hpp"
#include "d5/evaluation/run/run_sink.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalRunExamples =
    R"(  d5 eval run efficientnet-lite0 --framework torch,reference --scenario single-stream,server,burst
                                                check the claimed accuracy, measure the speed
  d5 eval run smollm2 --framework onnxruntime:session --scenario poisson:rate=1,sessions
                                                generate text, judge its loss and its answers
  d5 eval run mine.yaml --dataset imagenet-sample --framework all --batch 1,8
                                                your own model ('d5 eval lint mine.yaml')
  d5 eval run --task image-classification --framework all
                                                every model of the catalogue for a task
  d5 eval run evaluation.yaml --out results.json --resume
                                                everything that an evaluation's manifest names
  d5 eval run --locked e.lock.json              repeat it, if nothing changed since 'd5 eval lock')";

constexpr const char* kEvalRunFooter = R"(

The model first answers all samples. An accuracy below the author's claim fails, and the times that
follow are mistrusted. A generator's loss is held against its claim, and its answers are held
against the reference (regret).

Metrics of generated text, from the schedule or from asking, as latency:
  ttft           time to the first piece with tokens
  ttfa           time to the first of these that is no reasoning
  itl            gap between pieces / tokens of the second, weighted by tokens
  tpot           of an answer: (last - first piece) / (tokens - tokens of the first piece)
  stall          largest gap of an answer
  output_tokens  tokens of an answer
  output_rate    tokens a second, while the load is steady
  attainment     share of answers within --ttft-limit, --tpot-limit and --latency-limit
  goodput        answers a second within them)";

struct EvalRunOptions : app::EvaluationOptions,
                        app::OutputOptions,
                        app::RunOptions,
                        app::ListOptions {
  std::string locked;
  app::ServerChoice where;
  bool steps = false;
  double price = 0;
  std::string currency = EvaluateOptions().currency;
  Isolation isolation{.most_seconds = 3600};
};

/// A trace, and a device, belong to this process.
Isolation isolation_of(const EvalRunOptions& options) {
  if (!options.trace.empty() || options.device != "cpu") return {};
  return {
      .most_seconds = options.isolation.most_seconds, .most_bytes = 0, .interrupt = app::ctrl_c()};
}

FixedEvaluation fixed(const EvalRunOptions& options) {
  if (options.locked.empty()) return app::fixed_evaluation_of(options, options);
  Settings changes = app::changes_of(options, options);
  (void)changes.take("threads", "");  // the process's
  if (!options.what.empty() || !changes.values().empty()) {
    throw ValueError(
        "--locked FILE fixes what runs and how; leave out models, frameworks, scenarios, seeds and "
        "lengths, or run without it");
  }
  return locked_evaluation(options.locked);
}

/// The end of every record's command.
std::string end_of_line(const EvalRunOptions& options) {
  CommandLine line;
  line.append(app::to_line(options, options));
  if (options.steps) line.flag("--steps");
  if (options.price > 0) line.option("--price", options.price);
  if (options.currency != EvaluateOptions().currency) line.option("--currency", options.currency);
  const double usual = EvalRunOptions().isolation.most_seconds;
  if (options.isolation.most_seconds != usual) {
    line.option("--isolate", options.isolation.most_seconds);
  }
  return line.text();
}

/// The line that runs all again. The file of a server's job lasts as long as the job.
std::string whole_line(const FixedEvaluation& evaluation, const EvalRunOptions& options) {
  if (!app::is_of_fixed_evaluation(options)) return app::given_line();
  return evaluation_line(evaluation.manifest) + end_of_line(options);
}

/// Keeps all queries, answers and traces in the database of `--database` or $D5_DATABASE.
struct Kept {
  std::unique_ptr<EvaluationDatabase> database;  ///< null without an address
  std::optional<RunSink> run;
};

Kept kept(const FixedEvaluation& evaluation, const EvalRunOptions& options, EvaluateOptions& how) {
  Kept result;
  result.database = app::take_database();
  if (!result.database) return result;
  EvaluationRun run{.key = evaluation.key,
                    .manifest = evaluation.canonical,
                    .command = whole_line(evaluation, options),
                    .environment = environment()};
  result.run.emplace(*result.database, std::move(run), options.out, options.resume);
  how.run = result.run->id();
  return result;
}

/// Throws: ValueError for a manifest's file, which the server does not have.
void expect_names(const EvaluationManifest& evaluation, const std::string& server) {
  std::vector<std::string> words = evaluation.models;
  if (!evaluation.dataset.empty()) words.push_back(evaluation.dataset);
  for (const std::string& word : words) {
    if (!is_manifest_path(word) && !word.ends_with(".onnx")) continue;
    throw ValueError(fmt::format(
        "'{0}' is a file of this machine, and a server knows models and data sets by their names; "
        "'d5 model add {0} --server {1}' adds it, then give its name",
        printable(word), printable(server)));
  }
}

/// Ends the run in the database. False if that is not whole.
bool end(Kept& kept, const EvalRunOptions& options) {
  if (!kept.run) return true;
  try {
    kept.run->end();
  } catch (const IoError& error) {
    app::say(fmt::format("error: {}", error.what()));
    return false;
  }
  if (kept.run->has_begun() && !options.quiet) {
    app::say(fmt::format("kept as run {}", kept.run->id().substr(0, 8)));
  }
  return true;
}

/// Refuses options that would be ignored: the server's agents run as they were started.
void refuse_options_of_this_machine(const CLI::App& command) {
  for (const std::string name :
       {"--locked", "--steps", "--price", "--currency", "--isolate", "--device", "--load",
        "--trace", "--filter", "--list", "--dry-run", "--resume"}) {
    if (command.get_option(name)->count() == 0) continue;
    throw ValueError(
        fmt::format("{0} works on this machine alone; leave out --server, or {0}", name));
  }
}

/// Runs it on the server's machines, where names are resolved.
int run_on_server(const EvalRunOptions& options) {
  refuse_options_of_this_machine(*options.command);
  const EvaluationManifest evaluation = app::evaluation_of(options, options);
  expect_names(evaluation, options.where.server);
  return app::run_on_server(canonical_json(evaluation), options.where, options);
}

int run_eval_run(EvalRunOptions options) {
  if (!options.where.server.empty()) return run_on_server(options);
  if (app::is_only_kept(options.out))
    options.out.clear();  // the RunSink writes to the database itself
  app::apply_predictors(options);
  pin_threads();
  const FixedEvaluation evaluation = fixed(options);
  EvaluateOptions how{.steps = options.steps,
                      .command_options = end_of_line(options),
                      .price_per_hour = options.price,
                      .currency = options.currency,
                      .isolation = isolation_of(options),
                      .interrupt = app::ctrl_c()};
  Kept keeping = kept(evaluation, options, how);
  if (keeping.run) how.sink = &*keeping.run;
  options.summary = app::evaluation_summary;
  options.is_kept_elsewhere = keeping.run.has_value();
  int status = app::kBadUsage;
  try {
    status = app::run_list(evaluation_work(evaluation, how), options, options);
  } catch (const IoError&) {  // the results file cannot be written
    (void)end(keeping, options);
    throw;
  }
  return end(keeping, options) ? status : app::kBadUsage;
}

}  // namespace

void register_eval_run(app::Program& program) {
  auto options = std::make_shared<EvalRunOptions>();
  auto& command =
      program.add("eval run", "evaluate a model as it is used: accuracy and speed",
                  std::string(kEvalRunExamples) + app::server_example() + kEvalRunFooter,
                  [options] { return run_eval_run(*options); });
  app::add_evaluation_options(command, *options);
  command
      .add_option("--locked", options->locked,
                  "lock file of 'd5 eval lock' to run, if nothing changed since")
      ->option_text("FILE");
  app::add_server_choice(command, options->where);
  command.add_flag("--steps", options->steps,
                   "record each step's time and queue, and which step waited for which");
  command
      .add_option("--price", options->price,
                  "price of an hour of this machine; adds the cost of a million predictions")
      ->transform(app::number_from_zero())
      ->option_text("PRICE");
  app::add_currency_option(command, options->currency);
  command
      .add_option("--isolate", options->isolation.most_seconds,
                  "run each model and framework in a process of its own, with this time limit for "
                  "each piece, so that a crash or a hang is a failed row; 3600 if left out, 0: run "
                  "in this process")
      ->transform(app::number_from_zero())
      ->option_text("S");
  app::add_list_options(command, *options);
  app::add_pivot_option(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
  app::add_unsupported_option(command, *options);
}

}  // namespace d5::command

// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "apps/ctrl_c.hpp"
#include "apps/options.hpp"
#include "apps/program.hpp"
#include "apps/work_list.hpp"
#include "d5/core/entry_words.hpp"
#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/evaluation/evaluate.hpp"
#include "d5/level0_ops/size_range.hpp"
#include "d5/level1_network/executor_word.hpp"

namespace d5::command {
namespace {

constexpr const char* kEvalRunExamples =
    R"(  d5 eval run efficientnet-lite0 --framework torch,reference --scenario single_stream
                                                is it as accurate as claimed, and how fast
  d5 eval run mine.yaml --dataset imagenet-sample --framework all --batch 1,8
                                                a model of your own ('d5 eval lint mine.yaml')
  d5 eval run evaluation.yaml --out results.json --resume
                                                all that an evaluation's manifest names

A model is answered on all samples first: an accuracy below what its author claims fails, and what
is timed then is mistrusted.)";

struct EvalRunOptions : app::OutputOptions, app::RunOptions, app::ListOptions {
  std::vector<std::string> what, scenarios, trace_levels;
  std::string dataset, split, batches;
  std::int64_t queries = 0;
  double seconds = -1;
  bool no_accuracy = false;
};

/// Whether a word names the manifest of an evaluation, not of a model.
bool is_evaluation(const std::string& word) {
  if (!is_manifest_path(word)) {
    const auto known = carried_manifests("evaluation");
    return std::find(known.begin(), known.end(), word.substr(0, word.find('@'))) != known.end();
  }
  const std::string text = detail::read_manifest_file(manifest_file("model", word));
  return manifest_kind_of(text, word) == "evaluation";
}

/// What the command line says, on top of a manifest where one is given.
EvaluationManifest manifest_of(const EvalRunOptions& options) {
  EvaluationManifest manifest;
  manifest.name = "command-line";
  manifest.version = "0.0.0-dev";
  manifest.frameworks = options.frameworks;
  if (options.what.size() == 1 && is_evaluation(options.what.front())) {
    manifest = find_manifest<EvaluationManifest>(options.what.front()).manifest;
  } else {
    manifest.models = options.what;
    manifest.scenarios = {{"single_stream"}};
  }
  if (!options.scenarios.empty()) manifest.scenarios.clear();
  for (const auto& word : options.scenarios) {
    manifest.scenarios.push_back(entry_of_words("scenario", word));
  }
  if (!options.trace_levels.empty()) manifest.trace_levels = options.trace_levels;
  if (!options.dataset.empty()) manifest.dataset = options.dataset;
  if (!options.split.empty()) manifest.split = options.split;
  if (!options.batches.empty()) manifest.batches = sizes_from(options.batches);
  if (options.queries > 0) manifest.queries = options.queries;
  if (options.seconds >= 0) manifest.seconds = options.seconds;
  if (options.no_accuracy) manifest.accuracy = false;
  manifest.seed = static_cast<std::int64_t>(options.seed);
  return manifest;
}

int run_eval_run(EvalRunOptions options) {
  app::apply(options, executor_words);
  pin_threads();
  const FixedEvaluation evaluation = fix_evaluation(manifest_of(options));
  const EvaluateOptions how{.command_options = app::to_line(options), .interrupt = app::ctrl_c()};
  return app::run_list(evaluation_work(evaluation, how), options, options);
}

}  // namespace

void register_eval_run(app::Program& program) {
  auto options = std::make_shared<EvalRunOptions>();
  auto& command = program.add("eval run", "a model as it is used: how accurate, how fast",
                              kEvalRunExamples, [options] { return run_eval_run(*options); });
  command
      .add_option("WHAT", options->what,
                  "models, or one evaluation: NAME, NAME@VERSION or a manifest's file")
      ->required();
  command.add_option("--scenario", options->scenarios, "how queries come ('d5 list scenarios')")
      ->delimiter(',')
      ->option_text("NAME[:KEY=VALUE]...,...");
  command
      .add_option("--batch", options->batches,
                  "samples that are computed together, as 1,4 or 1..64*2")
      ->option_text("N,...")
      ->group(app::kManyGroup);
  command.add_option("--dataset", options->dataset, "else that of the model's first claim")
      ->option_text("NAME");
  command.add_option("--split", options->split, "of the data set; else all samples")
      ->option_text("NAME");
  command.add_option("--queries", options->queries, "of a scenario, at least")->option_text("N");
  command.add_option("--seconds", options->seconds, "of a scenario, at least")->option_text("S");
  command.add_option("--trace-level", options->trace_levels, "none, model, framework")
      ->delimiter(',')
      ->option_text("LEVEL,...");
  command.add_flag("--no-accuracy", options->no_accuracy, "time alone");
  app::add_list_options(command, *options);
  app::add_pivot_option(command, *options);
  app::add_run_options(command, *options);
  app::add_output_options(command, *options);
  app::add_verdict_option(command, *options);
}

}  // namespace d5::command

// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/evaluation_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "apps/work_list.hpp"
#include "d5/evaluation/asked_evaluation.hpp"
#include "d5/evaluation/manifest_place.hpp"
#include "d5/evaluation/own_steps.hpp"
#include "d5/evaluation/predictor.hpp"
#include "d5/level0_ops/size_range.hpp"
#include "d5/level1_network/executor_word.hpp"

namespace d5::app {
namespace {

/// What was said; what was not is as in a new `EvaluationOptions`.
EvaluationChanges changes_of(const EvaluationOptions& options, const RunOptions& run) {
  EvaluationChanges changes;
  const RunOptions untold;
  if (run.frameworks != untold.frameworks) changes.frameworks = run.frameworks;
  if (run.seed != untold.seed) changes.seed = static_cast<std::int64_t>(run.seed);
  if (!options.scenarios.empty()) changes.scenarios = options.scenarios;
  if (!options.trace_levels.empty()) changes.trace_levels = options.trace_levels;
  if (!options.dataset.empty()) changes.dataset = options.dataset;
  if (!options.split.empty()) changes.split = options.split;
  if (!options.batches.empty()) changes.batches = sizes_from(options.batches);
  if (options.stage_threads > 0) changes.stage_threads = options.stage_threads;
  if (options.repetitions > 0) changes.repetitions = options.repetitions;
  if (options.instances > 0) changes.instances = options.instances;
  if (options.longest_wait >= 0) changes.longest_wait = options.longest_wait;
  if (options.queries > 0) changes.queries = options.queries;
  if (options.seconds >= 0) changes.seconds = options.seconds;
  if (options.no_accuracy) changes.accuracy = false;
  return changes;
}

}  // namespace

FixedEvaluation fixed_evaluation_of(const EvaluationOptions& options, const RunOptions& run) {
  if (options.what.size() == 1 && is_manifest_path(options.what.front())) {
    const std::string& file = options.what.front();
    const std::string text = detail::read_manifest_file(file);
    if (is_fixed_evaluation(text)) return fixed_evaluation_from(text, file);
  }
  return fix_evaluation(evaluation_of(options, run));
}

EvaluationManifest evaluation_of(const EvaluationOptions& options, const RunOptions& run) {
  EvaluationManifest manifest = asked_evaluation(options.what, "command-line");
  change_evaluation(manifest, changes_of(options, run));
  return manifest;
}

bool are_changes_told(const EvaluationOptions& options, const RunOptions& run) {
  EvaluationManifest changed;
  change_evaluation(changed, changes_of(options, run));
  return canonical_json(changed) != canonical_json(EvaluationManifest());
}

void apply_predictors(RunOptions& run) {
  const auto is_of_none = [](const std::string& word) {
    return predictors().find(word.substr(0, word.find(':'))) != nullptr;
  };
  std::vector<std::string> of_none;
  std::ranges::copy_if(run.frameworks, std::back_inserter(of_none), is_of_none);
  std::erase_if(run.frameworks, is_of_none);
  apply(run, executor_words);
  run.frameworks.insert(run.frameworks.end(), of_none.begin(), of_none.end());
}

void add_code_option(CLI::App& command, bool& allow_code) {
  command.add_flag_callback(
      "--allow-code",
      [&allow_code] {
        allow_code = true;
        allow_own_steps();
      },
      "manifests may name functions of your own, which will run (step python)");
}

void add_evaluation_options(CLI::App& command, EvaluationOptions& options) {
  command.add_option("WHAT", options.what,
                     "models, or one evaluation: NAME, NAME@VERSION or a manifest's file");
  command.add_option("--scenario", options.scenarios, "how queries come ('d5 list scenarios')")
      ->delimiter(',')
      ->option_text("NAME[:KEY=VALUE]...,...");
  command
      .add_option("--batch", options.batches,
                  "samples that are computed together, as 1,4 or 1..64*2")
      ->option_text("N,...")
      ->group(kManyGroup);
  command.add_option("--dataset", options.dataset, "else that of the model's first claim")
      ->option_text("NAME");
  command.add_option("--split", options.split, "of the data set; else all samples")
      ->option_text("NAME");
  command.add_option("--stage-threads", options.stage_threads, "of each step before the network")
      ->option_text("N");
  command
      .add_option("--instances", options.instances,
                  "of the predictor, which answer at once and share the threads")
      ->option_text("N");
  command
      .add_option("--longest-wait", options.longest_wait,
                  "that a query waits for others to fill its batch")
      ->option_text("S");
  command
      .add_option("--queries", options.queries,
                  "of a scenario, at least; as many as its verdict needs if left out")
      ->option_text("N");
  command.add_option("--seconds", options.seconds, "of a scenario, at least")->option_text("S");
  command
      .add_option("--trace-level", options.trace_levels,
                  "none, model, framework, library, system: each with those before")
      ->delimiter(',')
      ->option_text("LEVEL,...");
  command
      .add_option("--repetitions", options.repetitions, "of each cell, levels of trace in turns")
      ->option_text("N");
  add_code_option(command, options.allow_code);
  command.add_flag("--no-accuracy", options.no_accuracy, "time alone");
}

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#include "apps/evaluation/evaluation_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <string_view>

#include "apps/declared_options.hpp"
#include "apps/say.hpp"
#include "apps/work_list.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/measuring/command_line.hpp"
#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/manifest/catalogue_models.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/evaluation/run/asked_evaluation.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level2_training/data/own_steps.hpp"

namespace d5::app {
namespace {

constexpr std::string_view kAll = "all";

/// The named models and those of a task; "all" is the whole catalogue.
std::vector<std::string> words_of(const EvaluationOptions& options) {
  std::vector<std::string> words;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& word : more) {
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
  };
  for (const std::string& word : options.what) {
    add(word == kAll ? catalogue_models("") : std::vector{word});
  }
  if (!options.task.empty()) add(catalogue_models(options.task));
  return words;
}

bool names_many(const EvaluationOptions& options) {
  return !options.task.empty() || std::ranges::find(options.what, kAll) != options.what.end();
}

/// Leaves out models of the catalogue that are judged on no data set, with a note.
void leave_out_unjudged(std::vector<std::string>& models) {
  const std::size_t before = models.size();
  std::erase_if(models, [](const std::string& word) {
    return find_manifest<ModelManifest>(word).manifest.accuracy.empty();
  });
  const std::size_t left_out = before - models.size();
  if (left_out == 0) return;
  const std::string note = fmt::format(
      "{} of {} models claim no accuracy on a data set; give them one with --dataset NAME",
      left_out, before);
  if (models.empty()) throw ValueError(note);
  say("note: left out: " + note);
}

}  // namespace

Settings changes_of(const EvaluationOptions& options, const RunOptions& run) {
  Settings changes = options.changes;
  if (run.frameworks_given) {
    changes.set("frameworks", fmt::format("{}", fmt::join(run.frameworks, ",")));
  }
  if (run.seed_given) changes.set("seed", run.seed);
  if (run.threads > 0) changes.set("threads", run.threads);
  return changes;
}

std::string to_line(const EvaluationOptions& options, const RunOptions& run) {
  CommandLine line;
  line.append(to_line(run));
  if (run.device != RunOptions().device) line.option("--device", run.device);
  if (options.allow_code) line.flag("--allow-code");
  return line.text();
}

bool is_of_fixed_evaluation(const EvaluationOptions& options) {
  return options.what.size() == 1 && is_manifest_path(options.what.front()) &&
         is_fixed_evaluation(detail::read_manifest_file(options.what.front()));
}

FixedEvaluation fixed_evaluation_of(const EvaluationOptions& options, const RunOptions& run) {
  if (!is_of_fixed_evaluation(options)) return fix_evaluation(evaluation_of(options, run));
  const std::string& file = options.what.front();
  return fixed_evaluation_from(detail::read_manifest_file(file), file);
}

EvaluationManifest evaluation_of(const EvaluationOptions& options, const RunOptions& run) {
  EvaluationManifest manifest = asked_evaluation(words_of(options), "command-line");
  change_evaluation(manifest, changes_of(options, run));
  if (names_many(options) && manifest.dataset.empty()) leave_out_unjudged(manifest.models);
  return manifest;
}

void apply_predictors(RunOptions& run) {
  const auto is_of_none = [](const std::string& word) { return find_predictor(word) != nullptr; };
  std::vector<std::string> of_none;
  std::ranges::copy_if(run.frameworks, std::back_inserter(of_none), is_of_none);
  std::erase_if(run.frameworks, is_of_none);
  apply(run, executor_words);
  run.frameworks.insert(run.frameworks.end(), of_none.begin(), of_none.end());
}

TextTable evaluation_summary(const Results& results) {
  return analyses().at("summary").make()->analyse(std::vector<AnalysedRun>{{"", results}}).table;
}

void add_code_option(CLI::App& command, bool& allow_code) {
  command.add_flag_callback(
      "--allow-code",
      [&allow_code] {
        allow_code = true;
        allow_own_steps();
      },
      "allow manifests to name functions of your own, which will run (steps called python)");
}

void add_currency_option(CLI::App& command, std::string& currency) {
  const auto check = [](const std::string& word) {
    const bool fits =
        word.size() == 3 && std::ranges::all_of(word, [](char c) { return c >= 'A' && c <= 'Z'; });
    return fits ? std::string()
                : fmt::format("'{}', expected three letters such as USD", printable(word));
  };
  command.add_option("--currency", currency, "currency of the price, by ISO 4217; default: USD")
      ->check(CLI::Validator(check, ""))
      ->option_text("NAME");
}

void add_evaluation_options(CLI::App& command, EvaluationOptions& options) {
  command.add_option("WHAT", options.what,
                     "models, or one evaluation: NAME, NAME@VERSION or a manifest's file; all: "
                     "every model of the catalogue");
  command.add_option("--task", options.task, "every model of the catalogue for this task, too")
      ->option_text("TASK");
  std::vector<Option> declared = options_of<EvaluationManifest>();
  std::erase_if(declared, [](const Option& option) {
    return option.name == "frameworks" || option.name == "threads" || option.name == "seed";
  });
  add_declared_options(command, declared, "Evaluation",
                       [&options](const std::string& name, const std::string& text) {
                         (void)read_options<EvaluationManifest>({{name, text}});
                         options.changes.set(name, text);
                       });
  add_code_option(command, options.allow_code);
}

}  // namespace d5::app

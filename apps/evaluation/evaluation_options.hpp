// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/evaluation/evaluate.hpp"
#include "d5/evaluation/evaluation_manifest.hpp"

namespace d5::app {

/// What is evaluated, and how. The same in all commands that run or lock an evaluation.
struct EvaluationOptions {
  std::vector<std::string> what;  ///< models, or one evaluation
  std::vector<std::string> scenarios, trace_levels;
  std::string dataset, split, batches;
  std::int64_t queries = 0, stage_threads = 0, instances = 0, repetitions = 0;
  double seconds = -1, longest_wait = -1;
  bool no_accuracy = false, allow_code = false;
};
void add_evaluation_options(CLI::App& command, EvaluationOptions& options);
/// `apply` where `--framework` names predictors: those of no framework, too.
void apply_predictors(RunOptions& run);
/// `--allow-code`: manifests may name code of the user's own.
void add_code_option(CLI::App& command, bool& allow_code);
/// What the command line says, on top of an evaluation's manifest where one is named.
/// Throws: NotFound, FormatError, ValueError.
[[nodiscard]] EvaluationManifest evaluation_of(const EvaluationOptions& options,
                                               const RunOptions& run);

/// Whether the command line says something of an evaluation besides what is evaluated.
[[nodiscard]] bool are_changes_told(const EvaluationOptions& options, const RunOptions& run);

/// The same with all that it names; or what a file holds that has all in it
/// (`FixedEvaluation::canonical`).
[[nodiscard]] FixedEvaluation fixed_evaluation_of(const EvaluationOptions& options,
                                                  const RunOptions& run);

}  // namespace d5::app

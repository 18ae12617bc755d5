// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/run/evaluate.hpp"

namespace d5::app {

/// What is evaluated, and how. The same in all commands that run or lock an evaluation.
struct EvaluationOptions {
  std::vector<std::string> what;  ///< models, or one evaluation
  Settings changes;               ///< what was said of its manifest's fields
  bool allow_code = false;
};
/// Those of `EvaluationManifest::declare`, but what all commands have (`RunOptions`).
void add_evaluation_options(CLI::App& command, EvaluationOptions& options);
/// `apply` where `--framework` names predictors: those of no framework, too.
void apply_predictors(RunOptions& run);
/// `--allow-code`: manifests may name code of the user's own.
void add_code_option(CLI::App& command, bool& allow_code);
/// All that the command line says of a manifest's fields.
[[nodiscard]] Settings changes_of(const EvaluationOptions& options, const RunOptions& run);
/// The same on top of the evaluation that is named. Throws: NotFound, FormatError, ValueError.
[[nodiscard]] EvaluationManifest evaluation_of(const EvaluationOptions& options,
                                               const RunOptions& run);

/// The same with all that it names; or what a file holds that has all in it
/// (`FixedEvaluation::canonical`).
[[nodiscard]] FixedEvaluation fixed_evaluation_of(const EvaluationOptions& options,
                                                  const RunOptions& run);

}  // namespace d5::app

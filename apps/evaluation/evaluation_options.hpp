// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/manifest/evaluation_manifest.hpp"
#include "d5/evaluation/run/evaluate.hpp"

namespace d5::app {

/// The evaluation and its changes. The same in every command that runs or locks an evaluation.
struct EvaluationOptions {
  std::vector<std::string> what;  ///< models, or one evaluation
  std::string task;               ///< with all models of the catalogue for it
  Settings changes;               ///< values given for the manifest's fields
  bool allow_code = false;
};
/// Adds the options of `EvaluationManifest::declare`, without those that all commands have
/// (`RunOptions`).
void add_evaluation_options(CLI::App& command, EvaluationOptions& options);
/// `apply` for a command whose `--framework` names predictors, even those of no framework.
void apply_predictors(RunOptions& run);
/// `--allow-code`: manifests may name the user's own code.
void add_code_option(CLI::App& command, bool& allow_code);
/// `--currency`: that of a price. Checks that it has three letters.
void add_currency_option(CLI::App& command, std::string& currency);
/// " --load mine.so --device cuda:0 --allow-code": the end of a record's command.
[[nodiscard]] std::string to_line(const EvaluationOptions& options, const RunOptions& run);
/// All values of the manifest's fields on the command line.
[[nodiscard]] Settings changes_of(const EvaluationOptions& options, const RunOptions& run);
/// The named evaluation with these values set, or one of the named models, and of those of a task.
/// Models of a task that have no data set to run on are left out with a note. Throws: NotFound,
/// FormatError, ValueError.
[[nodiscard]] EvaluationManifest evaluation_of(const EvaluationOptions& options,
                                               const RunOptions& run);

/// Whether the command line names the file of an evaluation with all that it names.
[[nodiscard]] bool is_of_fixed_evaluation(const EvaluationOptions& options);
/// The same with everything that it names, or the contents of a lock file
/// (`FixedEvaluation::canonical`).
[[nodiscard]] FixedEvaluation fixed_evaluation_of(const EvaluationOptions& options,
                                                  const RunOptions& run);

/// The table below the rows of an evaluation: a line a cell.
[[nodiscard]] TextTable evaluation_summary(const Results& results);

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "apps/options.hpp"
#include "d5/core/results/results.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Adds `--database ADDRESS`: the command's `--out` results go to a database, too. Without `--out`
/// they go to a temporary file. A command of the group "eval" takes $D5_DATABASE without the
/// option. Without evaluation the option does not exist, and nothing is stored.
void add_keeping_option(CLI::App& command, OutputOptions& options);

/// Runs a command, then stores its results in the database that `--database` or $D5_DATABASE names.
/// The database is opened first, so that an unusable one stops the command before it measures.
/// Returns what `run` returns. Throws: as `EvaluationDatabase`, and what `run` throws.
int run_kept_if(const CLI::App& command, const std::function<int()>& run);

/// Stores results whose file could not be written, if a database keeps those of the command.
/// Throws: as `EvaluationDatabase`.
void keep_unwritten(const Results& results, const OutputOptions& options);

/// For a command that reads results files. Throws: ValueError for a file that is a database.
void expect_no_database(const std::string& file);

/// Whether a results file exists only for the database, and the user did not ask for it.
[[nodiscard]] bool is_only_kept(const std::string& file);

}  // namespace d5::app

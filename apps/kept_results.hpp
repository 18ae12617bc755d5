// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "apps/options.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// `--database ADDRESS`: what the command writes to `--out` goes to a database too. Where no
/// `--out` is given it is a file that is removed at the end. Without evaluation there is no such
/// option, and nothing is kept.
void add_keeping_option(CLI::App& command, OutputOptions& options);

/// Runs a command, then puts the results that it wrote where `--database` says, if it says so. The
/// database is opened before: what cannot be kept is not measured. Returns what `run` returns.
/// Throws: as `EvaluationDatabase`, and what `run` throws.
int run_kept_if(const std::function<int()>& run);

/// Of a command that reads results files. Throws: ValueError for a file that is a database.
void expect_no_database(const std::string& file);

/// Whether a file is there for the database alone, and nobody asked for it.
[[nodiscard]] bool is_only_kept(const std::string& file);

}  // namespace d5::app

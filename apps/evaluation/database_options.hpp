// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// Adds `--database` to a command that reads one; `usual_database` if it is not given.
void add_database_option(CLI::App& command, std::string& address);
[[nodiscard]] std::unique_ptr<EvaluationDatabase> open_database(
    const std::string& address,
    EvaluationDatabase::Access access = EvaluationDatabase::Access::read);

/// Takes the database over for a command that keeps its results itself, with all queries: from now
/// on nothing else is kept or written for it. Returns null if no address was given.
[[nodiscard]] std::unique_ptr<EvaluationDatabase> take_database();

/// Adds `--run`, `--framework`, `--metric`, `--since`, ...: filters of records.
void add_filter_options(CLI::App& command, RecordFilter& filter);

}  // namespace d5::app

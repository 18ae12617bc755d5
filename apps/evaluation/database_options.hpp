// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "d5/evaluation/database/evaluation_database.hpp"

namespace CLI {
class App;
}

namespace d5::app {

/// `--database`, of a command that reads one; `usual_database` where it is not given.
void add_database_option(CLI::App& command, std::string& address);
[[nodiscard]] std::unique_ptr<EvaluationDatabase> open_database(
    const std::string& address,
    EvaluationDatabase::Access access = EvaluationDatabase::Access::read);

/// Of a command that keeps what it measured itself, with all its queries: from now on nothing is
/// kept besides, nor written for it. Null where no address was given.
[[nodiscard]] std::unique_ptr<EvaluationDatabase> take_database();

/// `--run`, `--framework`, `--metric`, `--since`, ...: which records of it.
void add_filter_options(CLI::App& command, RecordFilter& filter);

}  // namespace d5::app

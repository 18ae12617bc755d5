// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace d5::app {

/// Before parsing, of all commands: CLI11 would take `--quiet=5`.
void refuse_values_of_flags(CLI::App& app);

/// What holds for every command, after parsing: one file is not written by two options; a command
/// that does not divide its work among ranks runs on one. Throws: ValueError.
void check_usage(const CLI::App& command);

}  // namespace d5::app

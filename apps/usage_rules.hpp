// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace d5::app {

/// Makes every flag refuse a value, before parsing: CLI11 would accept `--quiet=5`.
void refuse_values_of_flags(CLI::App& app);

/// Checks rules of all commands, after parsing: two options do not write one file; a command that
/// does not divide its work among ranks runs on one. Throws: ValueError.
void check_usage(const CLI::App& command);

}  // namespace d5::app

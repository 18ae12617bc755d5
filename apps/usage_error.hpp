// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace d5::app {

/// The sub-command that the command line reached.
[[nodiscard]] const CLI::App& deepest(const CLI::App& app);

/// "d5 op check"
[[nodiscard]] std::string full_name(const CLI::App& app);

/// Whether CLI11's exception is a granted request, such as --help or --version, instead of an
/// error. Help for an unknown command is an error.
[[nodiscard]] bool is_answered(const CLI::ParseError& error, const CLI::App& app);

/// Describes a usage error in d5's words, with the nearest name for an unknown one, and a pointer
/// to the help.
[[nodiscard]] std::string explain(const CLI::ParseError& error, const CLI::App& app);

}  // namespace d5::app

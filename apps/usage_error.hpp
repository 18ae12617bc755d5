// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace d5::app {

/// The sub-command that the line got to.
[[nodiscard]] const CLI::App& deepest(const CLI::App& app);

/// "d5 op check"
[[nodiscard]] std::string full_name(const CLI::App& app);

/// Whether it is no error but a wish that is fulfilled: --help, --version. Help on a command that
/// there is not is an error.
[[nodiscard]] bool is_answered(const CLI::ParseError& error, const CLI::App& app);

/// What is wrong with a command line, in d5's words, with the nearest name for one that is not
/// known, and the way to the help.
[[nodiscard]] std::string explain(const CLI::ParseError& error, const CLI::App& app);

}  // namespace d5::app

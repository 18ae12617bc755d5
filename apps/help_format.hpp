// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace d5::app {

/// Formats help in lines that fit the terminal, 100 characters at most.
[[nodiscard]] std::shared_ptr<CLI::FormatterBase> help_format();

}  // namespace d5::app

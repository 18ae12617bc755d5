// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// `command` quoted for a shell, followed by text that is quoted already.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& command,
                                     const std::string& quoted = {});

/// Runs a program, found on the search path, and waits. Returns its stdout. Throws: Unsupported if
/// it does not exist; IoError with its stderr if it fails.
[[nodiscard]] std::string output_of(const std::vector<std::string>& command);

}  // namespace d5::detail

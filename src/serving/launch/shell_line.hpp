// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// `command` as a shell reads it back, and behind it what is quoted already.
[[nodiscard]] std::string shell_line(const std::vector<std::string>& command,
                                     const std::string& quoted = {});

/// Runs a program, found as a shell finds it, and waits: what it says on stdout.
/// Throws: Unsupported where it is not there; IoError with what it says on stderr where it fails.
[[nodiscard]] std::string output_of(const std::vector<std::string>& command);

}  // namespace d5::detail

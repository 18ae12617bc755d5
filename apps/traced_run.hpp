// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace d5::app {

/// The option of every command that runs something.
inline constexpr const char* kTraceOption = "--trace";

/// Runs a command, and writes what all ranks did meanwhile to `path`, at rank 0; no trace if it is
/// empty. A command that returns has left all ranks together; of one that throws, rank 0 writes
/// what it did itself. Throws: IoError before the command runs if the file cannot be written; what
/// `run` throws.
int run_traced(const std::string& path, const std::function<int()>& run);

}  // namespace d5::app

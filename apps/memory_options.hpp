// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/level1_network/graph_executor.hpp"

namespace d5::app {

/// How much memory an executor may lay out, and what backward computes again to save some. The
/// same in all commands that run networks.
struct MemoryOptions {
  std::size_t memory_limit = 0;        ///< bytes; 0: none
  std::vector<std::string> recompute;  ///< nodes and layers, or "auto" alone
};
/// `--memory`, `--recompute`
void add_memory_options(CLI::App& command, MemoryOptions& options);
/// An executor's options, as the command line gives them.
[[nodiscard]] ExecutorOptions execution_of(const RunOptions& run, const MemoryOptions& memory);

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5::app {

/// How executors place memory and nodes: a memory limit, what backward recomputes to save memory,
/// and which nodes run elsewhere. The same in all commands that run networks.
struct ExecutionOptions {
  std::size_t memory_limit = 0;        ///< bytes; 0: no limit
  std::vector<std::string> recompute;  ///< nodes and layers, or "auto" alone
  std::vector<std::string> places;     ///< OPERATOR=FRAMEWORK, node:NAME=FRAMEWORK
};
/// `--memory`, `--recompute`, `--place`
void add_execution_options(CLI::App& command, ExecutionOptions& options);
/// The same for a command whose `--memory` takes several limits, which run one after another.
void add_execution_options(CLI::App& command, ExecutionOptions& options,
                           std::vector<std::size_t>& memory_limits);
/// Call after plug-ins are loaded (`apply`). Throws: ValueError, NotFound.
[[nodiscard]] Placement placement_of(const ExecutionOptions& options);
/// An executor's options from the command line. Throws: as `placement_of`.
[[nodiscard]] ExecutorOptions execution_of(const RunOptions& run, const ExecutionOptions& options);

}  // namespace d5::app

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// A request for agents.
struct AgentLaunch {
  /// Command of one agent: the program, "agent", "run", and its options.
  std::vector<std::string> command;
  int agents = 1;
};

/// The launched agents, for people.
struct LaunchedAgents {
  std::vector<std::string> ids;  ///< ids of jobs or processes
  std::string watch, end;        ///< shell commands
};

/// Starts agents as jobs of the machine's scheduler, which decides where and when they run. d5 has
/// no scheduler of its own.
class AgentLauncher {
 public:
  virtual ~AgentLauncher() = default;
  /// Adds a unique name to each agent's command. Returns when the scheduler has accepted them.
  /// Throws: Unsupported without the scheduler; IoError with its message if it refuses.
  [[nodiscard]] virtual LaunchedAgents launch(const AgentLaunch& what) = 0;
};

using AgentLauncherEntry = Entry<std::shared_ptr<AgentLauncher>()>;
/// slurm, local; src/serving/launch/launchers has them, one file each.
[[nodiscard]] Registry<AgentLauncherEntry>& agent_launchers();

}  // namespace d5

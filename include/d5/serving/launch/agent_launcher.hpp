// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// Agents that are wanted.
struct AgentLaunch {
  std::vector<std::string> command;  ///< of one: the program, "agent", "run", and its options
  int agents = 1;
};

/// What became of it, for people.
struct LaunchedAgents {
  std::vector<std::string> ids;  ///< of jobs, of processes
  std::string watch, end;        ///< lines of a shell
};

/// Starts agents by the engine that a machine has: they are its jobs, and it decides where and when
/// they run. d5 has no scheduler of its own.
class AgentLauncher {
 public:
  virtual ~AgentLauncher() = default;
  /// Adds a name of its own to each agent's command. Returns when the engine has taken them.
  /// Throws: Unsupported where the engine is not there; IoError with its words where it refuses.
  [[nodiscard]] virtual LaunchedAgents launch(const AgentLaunch& what) = 0;
};

using AgentLauncherEntry = Entry<std::shared_ptr<AgentLauncher>()>;
/// slurm, local; src/serving/launch/launchers has them, one file each.
[[nodiscard]] Registry<AgentLauncherEntry>& agent_launchers();

}  // namespace d5

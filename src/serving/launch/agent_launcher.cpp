// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/launch/agent_launcher.hpp"

namespace d5 {

// Generated: one call a file of the folder.
namespace agent_launcher {
void register_all(Registry<AgentLauncherEntry>& registry);
}

Registry<AgentLauncherEntry>& agent_launchers() {
  static Registry<AgentLauncherEntry> registry("launcher", agent_launcher::register_all);
  return registry;
}

}  // namespace d5

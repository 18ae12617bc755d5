// SPDX-License-Identifier: Apache-2.0
#include "apps/listed_kinds.hpp"

#include "d5/serving/launch/agent_launcher.hpp"

namespace d5::app {

void list_serving(std::vector<ListedKind>& kinds) {
  kinds.push_back(kind_of("launchers", agent_launchers));
}

}  // namespace d5::app

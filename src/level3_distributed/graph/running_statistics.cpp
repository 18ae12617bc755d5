// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/running_statistics.hpp"

#include <algorithm>

#include "d5/level1_network/graph/network_mode.hpp"

namespace d5::detail {

std::vector<std::string> running_statistics(const Network& network) {
  std::vector<std::string> names;
  const auto training = graph_in_mode(network, NetworkMode::training).updates;
  for (const auto* updates : {&network.updates(), &training}) {
    for (const auto& [constant, output] : *updates) {
      if (std::ranges::find(names, constant) == names.end()) names.push_back(constant);
    }
  }
  return names;
}

}  // namespace d5::detail

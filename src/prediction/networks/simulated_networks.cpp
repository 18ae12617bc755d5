// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/prediction/networks/simulated_network.hpp"

namespace d5 {

const SimulatedNetworkEntry& find_simulated_network(std::string_view name) {
  if (const auto* own = simulated_networks().find(name)) return *own;
  const auto known = frameworks();
  if (std::ranges::find(known, name, &FrameworkInfo::name) == known.end()) {
    return simulated_networks().at(name);  // throws
  }
  try {
    return framework(name).part<NativeNetworks>().at(name);
  } catch (const Unsupported& error) {
    throw Unsupported(fmt::format("simulated network '{}': {}; 'ports' needs no framework",
                                  printable(std::string(name)), error.what()));
  }
}

}  // namespace d5

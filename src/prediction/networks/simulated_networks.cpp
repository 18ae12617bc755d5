// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/simulated_network.hpp"

namespace d5 {

namespace simulated_network {
void register_all(Registry<SimulatedNetworkEntry>& registry);  // generated
}  // namespace simulated_network

Registry<SimulatedNetworkEntry>& simulated_networks() {
  static Registry<SimulatedNetworkEntry> registry("simulated network",
                                                  simulated_network::register_all);
  return registry;
}

}  // namespace d5

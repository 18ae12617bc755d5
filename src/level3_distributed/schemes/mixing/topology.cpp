// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/topology.hpp"

namespace d5 {
namespace topology {
void register_all(Registry<TopologyEntry>& registry);
}

Registry<TopologyEntry>& topologies() {
  static Registry<TopologyEntry> registry("topology", topology::register_all);
  return registry;
}

}  // namespace d5

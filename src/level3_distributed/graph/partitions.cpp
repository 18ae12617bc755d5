// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/partition.hpp"

namespace d5 {
namespace partition {
void register_all(Registry<PartitionEntry>& registry);  // generated
}

Registry<PartitionEntry>& partitions() {
  static Registry<PartitionEntry> registry("partition", partition::register_all);
  return registry;
}

}  // namespace d5

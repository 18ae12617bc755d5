// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collectives/collective.hpp"

namespace d5 {
namespace collective {
void register_all(Registry<AllReduceEntry>& registry);
}
namespace broadcast_algorithm {
void register_all(Registry<BroadcastEntry>& registry);
}
namespace reduce_scatter_algorithm {
void register_all(Registry<ReduceScatterEntry>& registry);
}
namespace all_gather_algorithm {
void register_all(Registry<AllGatherEntry>& registry);
}

Registry<AllReduceEntry>& all_reduces() {
  static Registry<AllReduceEntry> registry("all-reduce", collective::register_all);
  return registry;
}

Registry<BroadcastEntry>& broadcasts() {
  static Registry<BroadcastEntry> registry("broadcast", broadcast_algorithm::register_all);
  return registry;
}

Registry<ReduceScatterEntry>& reduce_scatters() {
  static Registry<ReduceScatterEntry> registry("reduce-scatter",
                                               reduce_scatter_algorithm::register_all);
  return registry;
}

Registry<AllGatherEntry>& all_gathers() {
  static Registry<AllGatherEntry> registry("all-gather", all_gather_algorithm::register_all);
  return registry;
}

}  // namespace d5

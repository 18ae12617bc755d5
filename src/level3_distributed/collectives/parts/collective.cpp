// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collective.hpp"

namespace d5 {
namespace collective {
void register_all(Registry<AllReduceEntry>& registry);
}

Registry<AllReduceEntry>& all_reduces() {
  static Registry<AllReduceEntry> registry("all-reduce", collective::register_all);
  return registry;
}

}  // namespace d5

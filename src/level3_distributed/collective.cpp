// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/collective.hpp"

namespace d5 {
namespace collective {
void register_all(Registry<AllReduceEntry>& registry);
}

Registry<AllReduceEntry>& all_reduces() {
  static Registry<AllReduceEntry> registry = [] {
    Registry<AllReduceEntry> filled("all-reduce");
    collective::register_all(filled);
    return filled;
  }();
  return registry;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/models.hpp"

namespace d5 {

namespace model {
void register_all(Registry<ModelEntry>& registry);  // generated
}

Registry<ModelEntry>& models() {
  static Registry<ModelEntry> registry("network", model::register_all);
  return registry;
}

}  // namespace d5

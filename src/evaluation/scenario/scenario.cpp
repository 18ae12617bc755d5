// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

namespace scenario {
void register_all(Registry<ScenarioEntry>& registry);  // generated
}  // namespace scenario

Registry<ScenarioEntry>& scenarios() {
  static Registry<ScenarioEntry> registry("scenario", scenario::register_all);
  return registry;
}

}  // namespace d5

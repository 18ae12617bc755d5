// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"

namespace d5 {

// Generated: one call per file of each folder.
namespace route {
void register_all(Registry<RouteEntry>& registry);
}
namespace inference_route {
void register_all(Registry<RouteEntry>& registry);
}

Registry<RouteEntry>& routes() {
  static Registry<RouteEntry> registry("route", [](Registry<RouteEntry>& all) {
    route::register_all(all);
    inference_route::register_all(all);
  });
  return registry;
}

}  // namespace d5

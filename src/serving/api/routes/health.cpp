// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/serving/api/route.hpp"
#include "d5/version.hpp"

namespace d5::route {

void register_health(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/health",
               {.summary = "whether the server is up, and its version",
                .role = ServingRole::anyone,
                .answer = [](const HttpRequest&, ServingContext&) {
                  return HttpResponse::json(
                      nlohmann::json{{"status", "up"}, {"version", D5_VERSION}}.dump());
                }});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {

void register_agents(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/agents",
               {.summary = "machines that run jobs, with their facts and last heartbeat",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {"limit", "cursor"});
                  return detail::page_of(
                      context.jobs().agents(), request,
                      [](const StandingAgent& agent) { return detail::to_json(agent); });
                }});
}

}  // namespace d5::route

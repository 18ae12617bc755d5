// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {

void register_job_events(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/jobs/{id}/events",
               {.summary = "events of a job, as server-sent events, until it is over",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {"after"});
                  return detail::job_events_answer(context.jobs(), request.parameter("id"),
                                                   request);
                }});
  registry.add("GET /v1/events",
               {.summary = "events of all jobs, as server-sent events",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {"after"});
                  return detail::job_events_answer(context.jobs(), "", request);
                }});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {

void register_job(Registry<RouteEntry>& registry) {
  registry.add(
      "GET /v1/jobs/{id}",
      {.summary = "one job: its manifest, its parts, their progress",
       .role = ServingRole::view,
       .answer = [](const HttpRequest& request, ServingContext& context) {
         detail::expect_query(request, {});
         return detail::json_answer(detail::to_json(context.jobs().job(request.parameter("id"))));
       }});
}

}  // namespace d5::route

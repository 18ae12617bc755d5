// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"
#include "serving/api/known_frameworks.hpp"

namespace d5::route {
namespace {

HttpResponse fits_answer(const std::vector<AgentFit>& fits) {
  detail::AnswerJson items = detail::AnswerJson::array();
  for (const AgentFit& fit : fits) items.push_back(detail::to_json(fit));
  return detail::page_answer(std::move(items), "");
}

}  // namespace

void register_job_why(Registry<RouteEntry>& registry) {
  registry.add("POST /v1/jobs/why",
               {.summary = "agents that could run such a job, and why others could not",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {});
                  const JobConstraints constraints = detail::asked_job(request).constraints;
                  detail::expect_known_frameworks(constraints, context.jobs());
                  return fits_answer(context.jobs().why(constraints));
                }});
  registry.add("GET /v1/jobs/{id}/why",
               {.summary = "agents that could run the job, and why others could not",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {});
                  return fits_answer(context.jobs().why(request.parameter("id")));
                }});
}

}  // namespace d5::route

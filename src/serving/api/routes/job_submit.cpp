// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"
#include "serving/api/known_frameworks.hpp"

namespace d5::route {
namespace {

HttpResponse answer_submit(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {});
  JobRequest job = detail::asked_job(request);
  detail::expect_known_frameworks(job.constraints, context.jobs());
  job.owner = request.caller;
  return detail::submitted_answer(context.jobs().submit(job));
}

}  // namespace

void register_job_submit(Registry<RouteEntry>& registry) {
  registry.add("POST /v1/jobs", {.summary = "submit an evaluation; the same one twice is one job",
                                 .role = ServingRole::run,
                                 .answer = answer_submit});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/route.hpp"
#include "d5/serving/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {
namespace {

/// 201 for a new one; 200 for one that was asked for before.
HttpResponse answer_submit(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {});
  JobRequest job = detail::asked_job(request);
  job.owner = request.caller;
  const SubmittedJob submitted = context.jobs().submit(job);
  constexpr int kOk = 200, kCreated = 201;
  auto answer =
      detail::json_answer(detail::to_json(submitted.job), submitted.was_there ? kOk : kCreated);
  answer.headers.add("Location", "/v1/jobs/" + submitted.job.id);
  return answer;
}

}  // namespace

void register_job_submit(Registry<RouteEntry>& registry) {
  registry.add("POST /v1/jobs", {.summary = "ask for an evaluation; the same one twice is one job",
                                 .role = ServingRole::run,
                                 .answer = answer_submit});
}

}  // namespace d5::route

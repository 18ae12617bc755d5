// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_retry(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {});
  try {
    return detail::submitted_answer(context.jobs().retry(request.parameter("id"), request.caller));
  } catch (const ValueError& refused) {
    constexpr int kConflict = 409;
    return HttpResponse::problem(kConflict, refused.what());
  }
}

}  // namespace

void register_job_retry(Registry<RouteEntry>& registry) {
  registry.add("POST /v1/jobs/{id}/retry",
               {.summary = "submit a failed, cancelled or quarantined job again",
                .role = ServingRole::run,
                .answer = answer_retry});
}

}  // namespace d5::route

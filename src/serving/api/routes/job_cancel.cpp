// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_cancel(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {});
  const std::string& id = request.parameter("id");
  const std::string owner = context.jobs().job(id).owner;
  if (request.role < ServingRole::admin && request.caller != owner) {
    constexpr int kForbidden = 403;
    return HttpResponse::problem(
        kForbidden, owner.empty()
                        ? "nobody's token asked for the job; one of the role admin cancels it"
                        : fmt::format("{} asked for the job; that token or one of the role admin "
                                      "cancels it",
                                      printable(owner)));
  }
  if (!context.jobs().cancel(id)) {
    constexpr int kConflict = 409;
    return HttpResponse::problem(kConflict, "the job is over already");
  }
  return detail::json_answer(detail::to_json(context.jobs().job(id)));
}

}  // namespace

void register_job_cancel(Registry<RouteEntry>& registry) {
  registry.add("DELETE /v1/jobs/{id}",
               {.summary = "cancel the unfinished parts of a job: one's own, or any by an admin",
                .role = ServingRole::run,
                .answer = answer_cancel});
}

}  // namespace d5::route

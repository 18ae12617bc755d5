// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {

void register_trace(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs/{id}/trace",
               {.summary = "the timeline of a piece, as ui.perfetto.dev opens it",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, {"piece"});
                  const auto database = context.database();
                  const std::string run = detail::asked_run(*database, request);
                  return HttpResponse::json(database->trace_text(
                      run, detail::asked_piece(*database, run, "trace", request)));
                }});
}

}  // namespace d5::route

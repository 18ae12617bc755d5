// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {

void register_runs(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs",
               {.summary = "runs in the database, newest first",
                .role = ServingRole::view,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  detail::expect_query(request, detail::filter_names({"limit", "cursor"}));
                  const auto [limit, from] = detail::asked_page(request);
                  const auto page =
                      context.database()->runs(detail::asked_filter(request), {from, limit});
                  return detail::stored_page(
                      page, [](const StoredRun& run) { return detail::to_json(run); });
                }});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/query_record.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_queries(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"piece", "limit", "cursor"});
  const auto database = context.database();
  const std::string run = detail::asked_run(*database, request);
  constexpr std::size_t kUsual = 1000, kMost = 10000;
  const auto [limit, from] = detail::asked_page(request, kUsual, kMost);
  const std::string piece = detail::asked_piece(*database, run, "queries", request);
  return detail::stored_page(database->queries(run, piece, {from, limit}),
                             [](const QueryRecord& one) { return detail::to_json(one); });
}

}  // namespace

void register_queries(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs/{id}/queries", {.summary = "each query of a piece, with its times",
                                             .role = ServingRole::view,
                                             .answer = answer_queries});
}

}  // namespace d5::route

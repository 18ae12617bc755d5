// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_records(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, detail::filter_names({"limit", "cursor", "samples"}));
  const auto database = context.database();
  RecordFilter filter = detail::asked_filter(request);
  filter.run = detail::asked_run(*database, request);
  using enum EvaluationDatabase::Samples;
  const auto samples = request.asked("samples") == "true" ? with : without;
  constexpr std::size_t kUsual = 200;
  const auto [limit, from] = detail::asked_page(request, kUsual);
  return detail::stored_page(database->measurements(filter, samples, {from, limit}),
                             [](const StoredMeasurement& one) { return detail::to_json(one); });
}

}  // namespace

void register_records(Registry<RouteEntry>& registry) {
  registry.add(
      "GET /v1/runs/{id}/records",
      {.summary = "records of a run", .role = ServingRole::view, .answer = answer_records});
}

}  // namespace d5::route

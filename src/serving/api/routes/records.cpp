// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/route.hpp"
#include "d5/serving/serving_context.hpp"
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
  const auto records = database->measurements(filter, samples);
  return detail::page_of(
      records, request, [](const StoredMeasurement& one) { return detail::to_json(one); }, 200);
}

}  // namespace

void register_records(Registry<RouteEntry>& registry) {
  registry.add(
      "GET /v1/runs/{id}/records",
      {.summary = "what a run measured", .role = ServingRole::view, .answer = answer_records});
}

}  // namespace d5::route

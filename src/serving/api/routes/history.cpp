// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/result_history.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

/// A model's records in all versions; without a model, by the other parameters.
HttpResponse answer_history(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, detail::filter_names({"model", "limit", "cursor"}));
  RecordFilter filter = detail::asked_filter(request);
  filter.model = request.asked("model");
  constexpr std::size_t kUsual = 200;
  const auto [limit, from] = detail::asked_page(request, kUsual);
  return detail::stored_page(history_page(*context.database(), filter, {from, limit}),
                             [](const HistoryEntry& entry) {
                               detail::AnswerJson json = detail::to_json(entry.stored);
                               json["series"] = entry.series;
                               json["is_record"] = entry.is_record;
                               json["is_best"] = entry.is_best;
                               return json;
                             });
}

}  // namespace

void register_history(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/history", {.summary = "measurements over time, oldest first, with the best",
                                   .role = ServingRole::view,
                                   .answer = answer_history});
}

}  // namespace d5::route

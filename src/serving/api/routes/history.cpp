// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/evaluation/result_history.hpp"
#include "d5/serving/route.hpp"
#include "d5/serving/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

/// Of a model its records in all versions; without one, as the other words say.
HttpResponse answer_history(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, detail::filter_names({"model", "limit", "cursor"}));
  RecordFilter filter = detail::asked_filter(request);
  filter.model = request.asked("model");
  constexpr std::size_t kUsual = 200;
  const auto [limit, cursor] = detail::asked_page(request, kUsual);
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / 2;
  const std::size_t first =
      cursor.empty() ? 0 : detail::asked_number(request, "cursor", 0, 0, kMost);
  const auto history =
      stored_history(*context.database(), filter, {.skipped = first, .limit = limit});
  detail::AnswerJson items = detail::AnswerJson::array();
  for (const HistoryEntry& entry : history.entries) {
    auto& json = items.emplace_back(detail::to_json(entry.stored));
    json["series"] = entry.series;
    json["is_record"] = entry.is_record;
    json["is_best"] = entry.is_best;
  }
  const std::size_t next = first + history.entries.size();
  return detail::page_answer(std::move(items), next < history.all ? std::to_string(next) : "");
}

}  // namespace

void register_history(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/history",
               {.summary = "what was measured over time, the oldest first, and the best of it",
                .role = ServingRole::view,
                .answer = answer_history});
}

}  // namespace d5::route

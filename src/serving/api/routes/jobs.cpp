// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/job_json.hpp"

namespace d5::route {
namespace {

/// ?state=queued,running
JobFilter asked_jobs(const HttpRequest& request) {
  JobFilter filter{.key = request.asked("key")};
  std::istringstream words(request.asked("state"));
  for (std::string word; std::getline(words, word, ',');) filter.states.push_back(job_state(word));
  return filter;
}

HttpResponse answer_jobs(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"state", "key", "limit", "cursor"});
  const auto page = detail::asked_page(request);
  const auto [items, next] = context.jobs().jobs(asked_jobs(request), page.cursor, page.limit);
  detail::AnswerJson list = detail::AnswerJson::array();
  for (const Job& job : items) list.push_back(detail::to_json(job));
  return detail::page_answer(std::move(list), next);
}

}  // namespace

void register_jobs(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/jobs", {.summary = "submitted evaluations, newest first",
                                .role = ServingRole::view,
                                .answer = answer_jobs});
}

}  // namespace d5::route

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/accuracy/sample_answer.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_answers(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"piece", "wrong", "limit", "cursor"});
  const auto database = context.database();
  const std::string run = detail::asked_run(*database, request);
  constexpr std::size_t kUsual = 1000, kMost = 10000;
  const auto [limit, from] = detail::asked_page(request, kUsual, kMost);
  const std::string piece = detail::asked_piece(*database, run, "answers", request);
  using enum EvaluationDatabase::Answers;
  const auto which = request.asked("wrong") == "true" ? wrong : all;
  return detail::stored_page(database->answers(run, piece, which, {from, limit}),
                             [](const SampleAnswer& one) { return detail::to_json(one); });
}

}  // namespace

void register_answers(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs/{id}/answers",
               {.summary = "each sample's answer of a piece, or only the wrong ones",
                .role = ServingRole::view,
                .answer = answer_answers});
}

}  // namespace d5::route

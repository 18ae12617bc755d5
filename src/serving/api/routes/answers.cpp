// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/sample_answer.hpp"
#include "d5/serving/route.hpp"
#include "d5/serving/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

HttpResponse answer_answers(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"piece", "wrong", "limit", "cursor"});
  const auto database = context.database();
  const std::string run = detail::asked_run(*database, request);
  auto answers = database->answers(run, detail::asked_piece(*database, run, "answers", request));
  constexpr double kRight = 0.5;
  if (request.asked("wrong") == "true") {
    std::erase_if(answers, [](const SampleAnswer& one) { return !(one.score < kRight); });
  }
  constexpr std::size_t kUsual = 1000, kMost = 10000;
  return detail::page_of(
      answers, request, [](const SampleAnswer& one) { return detail::to_json(one); }, kUsual,
      kMost);
}

}  // namespace

void register_answers(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs/{id}/answers",
               {.summary = "each sample's answer of a piece, or the wrong ones alone",
                .role = ServingRole::view,
                .answer = answer_answers});
}

}  // namespace d5::route

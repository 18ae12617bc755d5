// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/measured_models.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/json_answer.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

AnswerJson measured_json(const MeasuredModel& model) {
  AnswerJson json{{"model", model.model}, {"framework", model.framework}};
  json["latency"] = model.latency ? AnswerJson(*model.latency) : AnswerJson();
  json["throughput"] = model.throughput ? AnswerJson(*model.throughput) : AnswerJson();
  json["accuracy"] = AnswerJson::object();
  for (const auto& [measure, value] : model.accuracy) json["accuracy"][measure] = value;
  return json;
}

HttpResponse answer_measured(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {"limit", "cursor"});
  return detail::page_of(measured_models(*context.database()), request, measured_json);
}

}  // namespace

void register_measured(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/measured",
               {.summary = "the best of each model in each framework, of the results here",
                .role = ServingRole::view,
                .answer = answer_measured});
}

}  // namespace d5::route

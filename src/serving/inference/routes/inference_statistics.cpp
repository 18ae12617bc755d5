// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/serving/api/route.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/inference/inference_answer.hpp"
#include "serving/inference/prometheus_text.hpp"

namespace d5::inference_route {
namespace {

HttpResponse tell_statistics(const HttpRequest& request, ServingContext& context) {
  return detail::inference_answer(request, context, [&](InferenceModels& models) {
    return HttpResponse::json(detail::json_of(models.statistics()).dump());
  });
}

HttpResponse tell_model_statistics(const HttpRequest& request, ServingContext& context) {
  return detail::inference_answer(request, context, [&](InferenceModels& models) {
    const auto [name, version] = detail::asked_model(request);
    const std::vector<InferenceModelStatistics> one = {models.statistics(name, version)};
    return HttpResponse::json(detail::json_of(one).dump());
  });
}

HttpResponse tell_metrics(const HttpRequest& request, ServingContext& context) {
  detail::expect_query(request, {});
  HttpResponse response;
  response.headers.add("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
  std::vector<InferenceModelStatistics> models;
  if (context.inference()) models = context.inference()->statistics();
  response.body = detail::prometheus_text(models);
  return response;
}

}  // namespace

void register_inference_statistics(Registry<RouteEntry>& registry) {
  registry.add("GET /metrics",
               {.summary = "statistics of the models, for Prometheus", .answer = tell_metrics});
  registry.add("GET /v2/models/stats",
               {.summary = "statistics of all open models", .answer = tell_statistics});
  for (const char* version : {"", "/versions/{version}"}) {
    registry.add(std::string("GET /v2/models/{name}") + version + "/stats",
                 {.summary = "a model's statistics; opens none", .answer = tell_model_statistics});
  }
}

}  // namespace d5::inference_route

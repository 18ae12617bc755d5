// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/serving/api/route.hpp"
#include "serving/inference/inference_answer.hpp"

namespace d5::inference_route {
namespace {

using Answer = HttpResponse (*)(const HttpRequest&, InferenceModels&);

HttpResponse describe(const HttpRequest& request, InferenceModels& models) {
  const auto [name, version] = detail::asked_model(request);
  return HttpResponse::json(detail::json_of(models.model(name, version)).dump());
}

HttpResponse tell_config(const HttpRequest& request, InferenceModels& models) {
  const auto [name, version] = detail::asked_model(request);
  return HttpResponse::json(detail::json_of(models.config(name, version)).dump());
}

HttpResponse tell_ready(const HttpRequest& request, InferenceModels& models) {
  const auto [name, version] = detail::asked_model(request);
  const std::string why = models.why_not_ready(name, version);
  nlohmann::json told{{"name", name}, {"ready", why.empty()}};
  if (!why.empty()) told["error"] = why;
  return HttpResponse::json(told.dump(), why.empty() ? 200 : 503);
}

std::size_t most_body_bytes(const HttpRequest& head, ServingContext& context, std::size_t usual) {
  return context.inference() ? detail::most_infer_bytes(head, *context.inference(), usual) : usual;
}

/// With a version in the path and without. All open a model that is not open yet, and so are for
/// those who may run something.
void add(Registry<RouteEntry>& registry, const std::string& method, const std::string& end,
         const char* summary, Answer answer,
         std::size_t (*most)(const HttpRequest&, ServingContext&, std::size_t) = nullptr) {
  for (const char* version : {"", "/versions/{version}"}) {
    registry.add(method + " /v2/models/{name}" + version + end,
                 {.summary = summary,
                  .role = ServingRole::run,
                  .answer =
                      [answer](const HttpRequest& request, ServingContext& context) {
                        return detail::inference_answer(
                            request, context,
                            [&](InferenceModels& models) { return answer(request, models); });
                      },
                  .most_body_bytes = most});
  }
}

}  // namespace

void register_inference_model(Registry<RouteEntry>& registry) {
  add(registry, "GET", "", "a model's inputs and outputs", describe);
  add(registry, "GET", "/config", "how a model is run", tell_config);
  add(registry, "GET", "/ready", "opens a model: whether it answers", tell_ready);
  add(registry, "POST", "/infer", "what a model says of inputs", detail::infer_over_http,
      most_body_bytes);
}

}  // namespace d5::inference_route

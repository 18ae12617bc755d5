// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/serving/route.hpp"
#include "serving/inference/inference_answer.hpp"

namespace d5::inference_route {
namespace {

RouteEntry health(const char* summary, const char* what) {
  return {.summary = summary,
          .role = ServingRole::anyone,
          .answer = [what](const HttpRequest&, ServingContext& context) {
            return detail::inference_answer(context, [&](InferenceModels&) {
              return HttpResponse::json(nlohmann::json{{what, true}}.dump());
            });
          }};
}

}  // namespace

void register_inference_server(Registry<RouteEntry>& registry) {
  registry.add("GET /v2/health/live", health("whether the inference server is up", "live"));
  registry.add("GET /v2/health/ready", health("whether it answers with models", "ready"));
  registry.add("GET /v2", {.summary = "which inference server it is, and what it can do",
                           .answer = [](const HttpRequest&, ServingContext& context) {
                             return detail::inference_answer(context, [](InferenceModels& models) {
                               return HttpResponse::json(detail::json_of(models.server()).dump());
                             });
                           }});
}

}  // namespace d5::inference_route

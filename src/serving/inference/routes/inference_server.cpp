// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/serving/api/route.hpp"
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

/// Source: Triton, "Model Repository Extension": the index alone.
HttpResponse tell_index(const HttpRequest& request, ServingContext& context) {
  return detail::inference_answer(context, [&](InferenceModels& models) {
    const auto wish = nlohmann::json::parse(request.body, nullptr, /*allow_exceptions=*/false);
    const bool ready_alone = wish.is_object() && wish.contains("ready") && wish["ready"] == true;
    nlohmann::json index = nlohmann::json::array();
    for (const InferenceModelState& state : models.states()) {
      if (state.is_ready || !ready_alone) index.push_back(detail::json_of(state));
    }
    return HttpResponse::json(index.dump());
  });
}

}  // namespace

void register_inference_server(Registry<RouteEntry>& registry) {
  registry.add("GET /v2/health/live", health("whether the inference server is up", "live"));
  registry.add("GET /v2/health/ready", health("whether it answers with models", "ready"));
  registry.add("POST /v2/repository/index",
               {.summary = "which models there are, and how they are", .answer = tell_index});
  registry.add("GET /v2", {.summary = "which inference server it is, and what it can do",
                           .answer = [](const HttpRequest&, ServingContext& context) {
                             return detail::inference_answer(context, [](InferenceModels& models) {
                               return HttpResponse::json(detail::json_of(models.server()).dump());
                             });
                           }});
}

}  // namespace d5::inference_route

// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/json_answer.hpp"
#include "serving/inference/inference_answer.hpp"

namespace d5::inference_route {
namespace {

RouteEntry health(const char* summary, const char* what) {
  return {.summary = summary,
          .role = ServingRole::anyone,
          .answer = [what](const HttpRequest& request, ServingContext& context) {
            return detail::inference_answer(request, context, [&](InferenceModels&) {
              return HttpResponse::json(nlohmann::json{{what, true}}.dump());
            });
          }};
}

/// Whether the index has ready models alone. Throws: FormatError, ValueError.
bool asks_for_ready(const HttpRequest& request) {
  if (request.body.empty()) return false;
  const detail::AnswerJson wish = detail::asked_object(request);
  detail::expect_members(wish, {"ready"});
  if (!wish.contains("ready")) return false;
  if (!wish["ready"].is_boolean()) throw FormatError("'ready': expected true or false");
  return wish["ready"].get<bool>();
}

/// Source: Triton, "Model Repository Extension": the index alone.
HttpResponse tell_index(const HttpRequest& request, ServingContext& context) {
  return detail::inference_answer(request, context, [&](InferenceModels& models) {
    const bool ready_alone = asks_for_ready(request);
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
  registry.add("GET /v2",
               {.summary = "which inference server it is, and what it can do",
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  return detail::inference_answer(request, context, [](InferenceModels& models) {
                    return HttpResponse::json(detail::json_of(models.server()).dump());
                  });
                }});
}

}  // namespace d5::inference_route

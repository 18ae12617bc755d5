// SPDX-License-Identifier: Apache-2.0
#include "core/results/result_members.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "serving/api/result_json.hpp"

namespace d5::route {
namespace {

/// A run with its pieces, its manifest and the environment as in a results file.
HttpResponse answer_run(const HttpRequest& request, ServingContext& context) {
  using detail::AnswerJson;
  detail::expect_query(request, {});
  const auto database = context.database();
  const std::string id = detail::asked_run(*database, request);
  const EvaluationRun run = database->run(id);
  AnswerJson json = detail::to_json(database->runs({.run = id}).at(0));
  json["pieces"] = AnswerJson::array();
  for (const auto& piece : database->pieces(id)) json["pieces"].push_back(detail::to_json(piece));
  json["manifest"] = nullptr;
  if (!run.manifest.empty()) json["manifest"] = AnswerJson::parse(run.manifest);
  json["environment"] = detail::environment_members(run.environment);
  return detail::json_answer(json);
}

}  // namespace

void register_run(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/runs/{id}",
               {.summary = "one run: its pieces, its manifest, its environment",
                .role = ServingRole::view,
                .answer = answer_run});
}

}  // namespace d5::route

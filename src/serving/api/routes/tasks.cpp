// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/catalogue.hpp"

namespace d5::route {
namespace {

/// {"name": "image classification", "models": ["efficientnet-lite0"]}
HttpResponse answer_tasks(const HttpRequest& request, ServingContext&) {
  detail::expect_query(request, {"limit", "cursor"});
  std::map<std::string, std::vector<std::string>> models;
  for (const auto& found : detail::carried<ModelManifest>()) {
    models[found.manifest.task].push_back(found.manifest.name);
  }
  const std::vector<std::pair<std::string, std::vector<std::string>>> tasks(models.begin(),
                                                                            models.end());
  return detail::page_of(tasks, request, [](const auto& task) {
    return detail::AnswerJson{{"name", task.first}, {"models", task.second}};
  });
}

}  // namespace

void register_tasks(Registry<RouteEntry>& registry) {
  registry.add(
      "GET /v1/tasks",
      {.summary = "tasks of the models", .role = ServingRole::view, .answer = answer_tasks});
}

}  // namespace d5::route

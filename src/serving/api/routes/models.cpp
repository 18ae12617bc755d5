// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/catalogue.hpp"
#include "serving/api/kept_answer.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

AnswerJson model_json(const FoundManifest<ModelManifest>& found) {
  AnswerJson json = detail::entry_json(found);
  json["format"] = found.manifest.format;
  std::int64_t bytes = 0;
  for (const ManifestAsset& asset : found.manifest.assets) bytes += asset.bytes;
  json["bytes"] = bytes;
  json["frameworks"] = AnswerJson::object();
  for (const auto& [name, range] : found.manifest.frameworks) json["frameworks"][name] = range;
  json["claims"] = AnswerJson::array();
  for (const auto& claim : found.manifest.accuracy) {
    json["claims"].push_back({{"dataset", claim.dataset},
                              {"measure", claim.measure},
                              {"value", claim.value},
                              {"tolerance", claim.tolerance},
                              {"source", claim.source}});
  }
  return json;
}

}  // namespace

void register_models(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/models", {.summary = "models that can be evaluated",
                                  .role = ServingRole::view,
                                  .answer = detail::list_answer(model_json)});
  registry.add("GET /v1/models/{name}", {.summary = "a model's manifest",
                                         .role = ServingRole::view,
                                         .answer = detail::manifest_answer<ModelManifest>});
  registry.add("POST /v1/models",
               {.summary = "keep a model's manifest, once its files are here",
                .role = ServingRole::admin,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  return detail::keep_answer(ModelManifest::kKind, request, context);
                }});
  registry.add("DELETE /v1/models/{name}",
               {.summary = "remove a kept model, and its files",
                .role = ServingRole::admin,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  return detail::forget_answer(ModelManifest::kKind, request, context);
                }});
}

}  // namespace d5::route

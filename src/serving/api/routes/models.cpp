// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/evaluation/manifest/model_manifest.hpp"
#include "d5/serving/api/route.hpp"
#include "d5/serving/api/serving_context.hpp"
#include "d5/serving/generators/text_models.hpp"
#include "serving/api/catalogue.hpp"
#include "serving/api/kept_answer.hpp"
#include "serving/generators/text_model.hpp"

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

/// A generator, as OpenAI's interface lists it. `vocabulary` tells a client that draws prompts of
/// given lengths how long a letter is.
AnswerJson generator_json(const std::string& name, const TextModels& models) {
  constexpr std::string_view kLetters = "a B c";
  const bool is_bytes = models.at(name)->tokenizer->encode(kLetters).size() == kLetters.size();
  return {{"id", name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "d5"},
          {"vocabulary", is_bytes ? "bytes" : "pieces"}};
}

std::vector<std::string> generators_of(const ServingContext& context) {
  return context.generators() ? context.generators()->names() : std::vector<std::string>();
}

/// A page of the catalogue; `object` and `data` are there for clients of OpenAI's interface.
HttpResponse list_models(const HttpRequest& request, ServingContext& context) {
  HttpResponse answer = detail::list_answer(model_json)(request, context);
  AnswerJson body = AnswerJson::parse(answer.body);
  body["object"] = "list";
  body["data"] = AnswerJson::array();
  for (const std::string& name : generators_of(context)) {
    body["data"].push_back(generator_json(name, *context.generators()));
  }
  answer.body = body.dump();
  return answer;
}

/// A model's manifest, or a generator that has none in the catalogue.
HttpResponse find_model(const HttpRequest& request, ServingContext& context) {
  try {
    return detail::manifest_answer<ModelManifest>(request, context);
  } catch (const NotFound&) {
    const std::string& name = request.parameter("name");
    const std::vector<std::string> names = generators_of(context);
    if (std::ranges::find(names, name) == names.end()) throw;
    return detail::json_answer(generator_json(name, *context.generators()));
  }
}

}  // namespace

void register_models(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/models", {.summary = "models that can be evaluated",
                                  .role = ServingRole::view,
                                  .answer = list_models});
  registry.add("GET /v1/models/{name}",
               {.summary = "a model's manifest", .role = ServingRole::view, .answer = find_model});
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

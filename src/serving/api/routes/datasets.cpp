// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/dataset_manifest.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/serving/api/route.hpp"
#include "serving/api/catalogue.hpp"
#include "serving/api/kept_answer.hpp"

namespace d5::route {
namespace {

using detail::AnswerJson;

/// Whether the server has the samples, each as a file of its own.
bool has_files(const DatasetManifest& manifest) {
  if (manifest.samples.empty()) return false;
  try {
    return open_samples(manifest) != nullptr;
  } catch (const NotFound&) {
    return false;
  }
}

AnswerJson dataset_json(const FoundManifest<DatasetManifest>& found) {
  AnswerJson json = detail::entry_json(found);
  json["modality"] = found.manifest.modality;
  if (!found.manifest.samples.empty()) json["samples"] = found.manifest.samples.size();
  json["here"] = has_files(found.manifest);
  json["splits"] = AnswerJson::array();
  for (const auto& split : found.manifest.splits) json["splits"].push_back(split.name);
  return json;
}

}  // namespace

void register_datasets(Registry<RouteEntry>& registry) {
  registry.add("GET /v1/datasets", {.summary = "data sets that models are evaluated on",
                                    .role = ServingRole::view,
                                    .answer = detail::list_answer(dataset_json)});
  registry.add("GET /v1/datasets/{name}", {.summary = "a data set's manifest",
                                           .role = ServingRole::view,
                                           .answer = detail::manifest_answer<DatasetManifest>});
  registry.add("POST /v1/datasets",
               {.summary = "keep a data set's manifest, once its files are here",
                .role = ServingRole::admin,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  return detail::keep_answer(DatasetManifest::kKind, request, context);
                }});
  registry.add("DELETE /v1/datasets/{name}",
               {.summary = "remove a kept data set, and its files",
                .role = ServingRole::admin,
                .answer = [](const HttpRequest& request, ServingContext& context) {
                  return detail::forget_answer(DatasetManifest::kKind, request, context);
                }});
}

}  // namespace d5::route

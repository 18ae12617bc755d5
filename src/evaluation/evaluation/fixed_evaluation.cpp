// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "d5/core/error.hpp"
#include "d5/evaluation/canonical_json.hpp"
#include "d5/evaluation/evaluate.hpp"

namespace d5 {
namespace {

/// The data set that a model is judged on: what the evaluation says, or else its first claim.
std::string dataset_word(const EvaluationManifest& manifest, const ModelManifest& model) {
  if (!manifest.dataset.empty()) return manifest.dataset;
  if (!model.accuracy.empty()) return model.accuracy.front().dataset;
  throw ValueError(fmt::format("{} claims no accuracy on any data set; say which one to use",
                               model.reference()));
}

}  // namespace

FixedEvaluation fix_evaluation(const EvaluationManifest& manifest) {
  using nlohmann::json;
  FixedEvaluation fixed;
  fixed.manifest = manifest;
  json all{{"evaluation", json::parse(canonical_json(manifest))},
           {"models", json::array()},
           {"datasets", json::array()}};
  for (const std::string& word : manifest.models) {
    fixed.models.push_back(find_manifest<ModelManifest>(word));
    const ModelManifest& model = fixed.models.back().manifest;
    fixed.datasets.push_back(find_manifest<DatasetManifest>(dataset_word(manifest, model)));
    all["models"].push_back(json::parse(fixed.models.back().canonical));
    all["datasets"].push_back({{"reference", fixed.datasets.back().manifest.reference()},
                               {"sha256", fixed.datasets.back().digest}});
  }
  // Where a manifest lies is not what it says.
  auto& told = all["evaluation"];
  for (const char* name : {"models", "dataset"}) told.erase(name);
  fixed.canonical = canonical_json(all.dump(), "evaluation " + manifest.reference());
  fixed.key = canonical_digest_of(fixed.canonical);
  return fixed;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/job_request.hpp"

#include "d5/evaluation/predictor.hpp"
#include "d5/evaluation/semantic_version.hpp"
#include "d5/level1_network/executor_word.hpp"

namespace d5 {
namespace {

/// What all models want of a framework: ">=2.4 <3 >=2.6".
std::string range_for(const std::string& framework, const FixedEvaluation& evaluation) {
  std::string all;
  for (const auto& model : evaluation.models) {
    const auto range = model.manifest.frameworks.find(framework);
    if (range == model.manifest.frameworks.end() || range->second.empty()) continue;
    if (all.find(range->second) != std::string::npos) continue;
    all += (all.empty() ? "" : " ") + range->second;
  }
  return all;
}

}  // namespace

JobRequest job_request(const FixedEvaluation& evaluation) {
  JobRequest request{.manifest = evaluation.canonical, .key = evaluation.key};
  for (const std::string& word : evaluation.manifest.frameworks) {
    if (predictors().find(word.substr(0, word.find(':')))) continue;
    for (const std::string& name : frameworks_in(word)) {
      if (name == "auto" || name == "all") continue;
      const std::string range = range_for(name, evaluation);
      (void)VersionRange::parse(range);
      request.constraints.frameworks[name] = range;
    }
  }
  return request;
}

JobRequest job_request(const std::string& manifest, const std::string& who) {
  return job_request(
      fix_evaluation(parse_manifest<EvaluationManifest>(manifest, who, ManifestOrigin::fetched)));
}

}  // namespace d5

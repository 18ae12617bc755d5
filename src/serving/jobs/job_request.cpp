// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_request.hpp"

#include "d5/evaluation/manifest/semantic_version.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "serving/jobs/foreign_evaluation.hpp"

namespace d5 {
namespace {

/// The intersection of bounds: ">=2.4 <3 >=2.6".
std::string joined(const std::string& range, const std::string& other) {
  if (range.find(other) != std::string::npos) return range;
  return range + (range.empty() ? "" : " ") + other;
}

/// Required versions of a framework over all models.
std::string range_for(const std::string& framework, const FixedEvaluation& evaluation) {
  std::string all;
  for (const auto& model : evaluation.models) {
    const auto range = model.manifest.frameworks.find(framework);
    if (range != model.manifest.frameworks.end()) all = joined(all, range->second);
  }
  return all;
}

}  // namespace

JobRequest job_request(const FixedEvaluation& evaluation) {
  JobRequest request{.manifest = evaluation.canonical, .key = evaluation.key};
  for (const auto& [word, told] : evaluation.frameworks) {
    if (find_predictor(word)) continue;
    for (const std::string& name : ExecutorWord(word).frameworks()) {
      if (name == "auto" || name == "all") continue;
      std::string range = range_for(name, evaluation);
      if (told) range = joined(range, told->manifest.requires_version);
      (void)VersionRange::parse(range);
      request.constraints.frameworks[name] = range;
    }
  }
  if (evaluation.systems.size() != 1)
    return request;  // with several, one must match, which the child checks
  const SystemManifest& system = evaluation.systems.front().manifest;
  request.constraints.architecture = system.architecture;
  request.constraints.cores = system.cores;
  request.constraints.memory_bytes = system.memory_bytes;
  request.constraints.instruction_sets = system.instruction_sets;
  request.constraints.device = system.device;
  request.constraints.labels = system.labels;
  return request;
}

JobRequest job_request(const std::string& manifest, const std::string& who) {
  if (is_fixed_evaluation(manifest)) {
    detail::expect_foreign(manifest, who);
    return job_request(fixed_evaluation_from(manifest, who));
  }
  return job_request(
      fix_evaluation(parse_manifest<EvaluationManifest>(manifest, who, ManifestOrigin::fetched)));
}

}  // namespace d5

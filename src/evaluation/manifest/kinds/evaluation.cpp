// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/evaluation_manifest.hpp"

#include "d5/evaluation/manifest_place.hpp"
#include "d5/evaluation/predictor.hpp"
#include "d5/evaluation/scenario.hpp"

namespace d5 {
namespace {

/// Paths, and predictors that ask another machine: a manifest from elsewhere chooses none.
bool is_local_framework(const std::string& word) {
  const PredictorEntry* entry = predictors().find(word.substr(0, word.find(':')));
  return is_manifest_path(word) || (entry && entry->has_option("address"));
}

}  // namespace

void EvaluationManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  const FieldRule word{.is_local = is_manifest_path};
  FieldRule words = word;
  words.required = true;
  fields.add("models", models, "NAME, NAME@VERSION or a manifest's path", words);
  fields.add("dataset", dataset, "the same of the data set; empty: that of the first claim", word);
  fields.add("split", split, "of the data set; empty: all samples");
  fields.add("frameworks", frameworks, "predictors' words, or the same of frameworks",
             {.is_local = is_local_framework});
  fields.add("systems", systems, "the same of systems, one of which this must be; empty: any",
             word);
  fields.add("scenarios", scenarios, "ways of asking", ::d5::scenarios());
  fields.add("batches", batches, "samples that are computed together",
             {.range = {.least = 1, .most = 65536}});
  fields.add("trace_levels", trace_levels, "how much of a run is recorded",
             {.words = {"none", "model", "framework", "library", "system"}});
  fields.add("repetitions", repetitions, "of every cell", {.range = {.least = 1, .most = 1000}});
  fields.add("threads", threads, "of all instances; 0: as many as there are cores",
             {.range = {.least = 0, .most = 4096}});
  fields.add("instances", instances, "of the predictor, which share the threads",
             {.range = {.least = 1, .most = 256}});
  fields.add("longest_wait", longest_wait, "s that a query may wait for others to fill its batch",
             {.range = {.least = 0, .most = 3600}});
  fields.add("stage_threads", stage_threads, "of each step before the network",
             {.range = {.least = 1, .most = 256}});
  fields.add("queries", queries, "of a scenario, at least; 0: as its verdict needs",
             {.range = {.least = 0}});
  fields.add("seconds", seconds, "of a scenario, at least", {.range = {.least = 0}});
  fields.add("seed", seed, "of samples and arrivals", {.range = {.least = 0}});
  fields.add("accuracy", accuracy, "all samples are answered and judged before anything is timed");
}

namespace manifest_kind {

void register_evaluation(Registry<ManifestKind>& registry) {
  registry.add("evaluation", ManifestKind::of<EvaluationManifest>(
                                 "models in frameworks on systems, under scenarios"));
}

}  // namespace manifest_kind
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/evaluation_manifest.hpp"

#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/predictor/predictor.hpp"
#include "evaluation/manifest/manifest_options.hpp"

namespace d5 {
namespace {

/// Paths, and predictors that ask another machine, which a manifest from elsewhere must not choose.
bool is_local_framework(const std::string& word) {
  const PredictorEntry* entry = find_predictor(word);
  return is_manifest_path(word) || (entry && entry->has_option("address"));
}

}  // namespace

void EvaluationManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("models", models, "models: NAME, NAME@VERSION or a manifest's path",
             {.required = true, .is_local = is_manifest_path});
  fields.add("systems", systems, "systems on one of which it must run; empty: any",
             {.is_local = is_manifest_path});
  declare_run(fields);
}

void EvaluationManifest::declare(OptionList& options) {
  detail::ManifestOptions fields(options);
  declare_run(fields);
}

void EvaluationManifest::declare_run(ManifestFields& fields) {
  fields.add("frameworks", frameworks, "predictors, or manifests of frameworks",
             {.is_local = is_local_framework, .flag = "framework"});
  fields.add(
      "dataset", dataset,
      "data set, or a folder with a folder of samples for each class; that of the model's first "
      "claim if left out",
      {.is_local = is_manifest_path});
  fields.add("split", split, "split of the data set; all samples if left out");
  fields.add("scenarios", scenarios, "scenarios: arrival patterns of queries ('d5 list scenarios')",
             ::d5::scenarios(), {.flag = "scenario"});
  FieldRule batch{.range = {.least = 1, .most = 65536}};
  batch.flag = "batch";
  fields.add("batches", batches, "batch sizes: samples that are computed together", batch);
  fields.add("queries", queries,
             "minimum number of queries of a scenario; 0: as many as its verdict needs",
             {.range = {.least = 0}});
  fields.add("seconds", seconds, "minimum time of a scenario",
             {.range = {.least = 0, .unit = "s"}});
  const FieldRule limit{.range = {.least = 0, .most = 86400, .unit = "s"}};
  fields.add("ttft_limit", ttft_limit,
             "longest time to the first token of a good answer (attainment, goodput); 0: no limit",
             limit);
  fields.add("tpot_limit", tpot_limit,
             "longest time per output token of a good answer; 0: no limit", limit);
  fields.add("latency_limit", latency_limit, "longest latency of a good answer; 0: no limit",
             limit);
  fields.add("instances", instances, "instances of the predictor, which share the threads",
             {.range = {.least = 1, .most = 256}});
  fields.add("longest_wait", longest_wait,
             "longest time that a query waits for others to fill its batch",
             {.range = {.least = 0, .most = 3600, .unit = "s"}});
  fields.add("stage_threads", stage_threads, "threads of each step before the network",
             {.range = {.least = 1, .most = 256}});
  fields.add("threads", threads, "threads of all instances; 0: as many as the machine has cores",
             {.range = {.least = 0, .most = 4096}});
  fields.add("trace_levels", trace_levels,
             "trace levels of the runs; each level includes those before it",
             {.words = {"none", "model", "framework", "library", "system"}, .flag = "trace-level"});
  fields.add("repetitions", repetitions, "runs of each cell, in which trace levels take turns",
             {.range = {.least = 1, .most = 1000}});
  fields.add("seed", seed, "seed of samples and arrivals", {.range = {.least = 0}});
  fields.add("accuracy", accuracy, "answer and judge all samples before timing");
}

namespace manifest_kind {

void register_evaluation(Registry<ManifestKind>& registry) {
  registry.add("evaluation", ManifestKind::of<EvaluationManifest>(
                                 "models in frameworks on systems, under scenarios"));
}

}  // namespace manifest_kind
}  // namespace d5

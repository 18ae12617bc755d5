// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/accuracy_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5::detail {
namespace {

struct NamedMeasure {
  std::string name;
  std::shared_ptr<AccuracyMeasure> measure;
  const AccuracyClaim* claim = nullptr;  ///< the manifest's claim for this data set
};

/// Whether a claim, which has a name or a path, means the data set.
bool means_dataset(const ModelManifest& model, const AccuracyClaim& claim,
                   const DatasetManifest& dataset) {
  const std::string& word = claim.dataset;
  if (!is_manifest_path(word)) return word == dataset.name || word == dataset.reference();
  return claimed_dataset(model, claim).manifest.reference() == dataset.reference();
}

/// Measures of the claims for the data set; without any, top-1 accuracy.
std::vector<NamedMeasure> measures_for(const EvaluatedModel& model) {
  std::vector<NamedMeasure> measures;
  for (const AccuracyClaim& claim : model.manifest().accuracy) {
    if (!means_dataset(model.manifest(), claim, model.dataset())) continue;
    measures.push_back({claim.measure, accuracy_measures().at(claim.measure).make(), &claim});
  }
  if (measures.empty()) measures.push_back({"top1", accuracy_measures().at("top1").make()});
  return measures;
}

void hold_against_claim(Measurement& record, const AccuracyClaim& claim) {
  const double value = estimate(record).value;
  record.conditions["claimed"] = finding(claim.value);
  if (value >= claim.value - claim.tolerance) return;
  record.status = Status::failed;
  record.reason =
      fmt::format("{:.4g} of {} samples, but {} is claimed, with a tolerance of {} ({})", value,
                  record.samples.size(), claim.value, claim.tolerance, claim.source);
}

}  // namespace

AccuracyRun run_accuracy(EvaluatedModel& model, const AccuracyOptions& options) {
  AccuracyRun run;
  auto measures = measures_for(model);
  const ModelPipeline& way = model.pipeline();
  const auto predictor = model.predictor(options.batch);
  Pipeline pipeline(way.stages_before(options.stage_threads),
                    [&](std::span<PipelineItem*> items) { way.predict(*predictor, items); },
                    way.stages_after(1),
                    {.batch = options.batch,
                     .queue = std::max<std::int64_t>(4, 2 * options.stage_threads),
                     .interrupt = options.interrupt});
  std::vector<std::int64_t> samples(std::size_t(way.size()));
  std::iota(samples.begin(), samples.end(), std::int64_t{0});
  std::string first_fault;
  std::int64_t missed = 0;
  run.pipeline = pipeline.run(samples, [&](PipelineItem& item) {
    SampleAnswer kept{.sample = item.sample};
    for (std::size_t m = 0; m < measures.size(); ++m) {
      double score = 0;
      if (item.fault.empty()) score = measures[m].measure->judge(item.answer, item.fields);
      if (!item.fault.empty()) measures[m].measure->miss(item.fields);
      if (m == 0) kept.score = score;
    }
    kept.answer = item.fault.empty() ? answer_text(item.answer) : "fault: " + item.fault;
    if (!item.fault.empty() && missed++ == 0) first_fault = item.fault;
    run.answers.push_back(std::move(kept));
    if (options.sampled) options.sampled();
  });
  for (const NamedMeasure& named : measures) {
    Measurement judged = measured_of(model.record(), named.measure->record());
    judged.conditions["batch"] = identity(options.batch);
    if (named.claim) hold_against_claim(judged, *named.claim);
    if (missed > 0) {
      judged.status = Status::failed;
      judged.reason = fmt::format("{} samples have no answer, the first: {}{}{}", missed,
                                  first_fault, judged.reason.empty() ? "" : "; ", judged.reason);
    }
    if (judged.status == Status::failed && model.fault.empty()) {
      model.fault = named.name + ": " + judged.reason;
    }
    run.records.push_back(std::move(judged));
  }
  return run;
}

}  // namespace d5::detail

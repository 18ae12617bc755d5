// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/accuracy_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"
#include "evaluation/accuracy/judged_tensor.hpp"
#include "evaluation/manifest/manifest_paths.hpp"

namespace d5::detail {
namespace {

/// Whether a claim, which has a name or a path, means the data set.
bool means_dataset(const ModelManifest& model, const AccuracyClaim& claim,
                   const DatasetManifest& dataset) {
  const std::string& word = claim.dataset;
  if (!is_manifest_path(word)) return word == dataset.name || word == dataset.reference();
  return claimed_dataset(model, claim).manifest.reference() == dataset.reference();
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

/// Measures of one run: those of the claims for the data set, or one that fits the first answer.
class Judges {
 public:
  explicit Judges(const EvaluatedModel& model) {
    for (const AccuracyClaim& claim : model.manifest().accuracy) {
      if (means_dataset(model.manifest(), claim, model.dataset())) add(claim.measure, &claim);
    }
    if (!judges_.empty()) return;
    for (const std::string& name : accuracy_measures().names()) {
      candidates_.emplace_back(name, accuracy_measures().at(name).make()->compares());
    }
  }

  /// Returns the first measure's score: 0 without an answer, NaN if no measure fits.
  double judge(const PipelineItem& item) {
    if (judges_.empty() && item.fault.empty() && misfit_.empty()) choose(item);
    if (judges_.empty()) {
      if (item.fault.empty()) return std::numeric_limits<double>::quiet_NaN();
      early_.push_back({compared_fields(item.fields), item.fault});
      return 0;
    }
    double first = 0;
    for (Judge& one : judges_) {
      const double score = judge_by(one, item);
      if (&one == &judges_.front()) first = score;
    }
    return first;
  }

  /// A record per measure; status failed if a claim is missed or a sample is not judged.
  [[nodiscard]] std::vector<Measurement> records(const Measurement& model) const {
    if (judges_.empty()) return {unjudged(model)};
    std::vector<Measurement> records;
    for (const Judge& one : judges_) {
      Measurement record = measured_of(model, one.measure->record());
      if (one.claim) hold_against_claim(record, *one.claim);
      if (one.missed > 0) {
        record.status = Status::failed;
        record.reason = missed_reason(one.missed, one.first_fault) +
                        (record.reason.empty() ? "" : "; ") + record.reason;
      }
      records.push_back(std::move(record));
    }
    return records;
  }

 private:
  struct Judge {
    std::shared_ptr<AccuracyMeasure> measure;
    const AccuracyClaim* claim = nullptr;  ///< the manifest's claim for this data set
    std::int64_t missed = 0;               ///< samples without an answer that it can judge
    std::string first_fault = {};
  };

  /// A sample without an answer.
  struct Missed {
    ValueMap fields;
    std::string fault;
  };

  void add(const std::string& name, const AccuracyClaim* claim = nullptr) {
    judges_.push_back({accuracy_measures().at(name).make(), claim});
  }

  /// The fields that measures look at: the others, such as pictures, are too large to keep.
  [[nodiscard]] ValueMap compared_fields(const ValueMap& fields) const {
    ValueMap compared;
    for (const auto& [name, compares] : candidates_) {
      for (const std::string& field : {compares.answer, compares.right}) {
        if (const auto place = fields.find(field); place != fields.end()) compared.insert(*place);
      }
    }
    return compared;
  }

  void choose(const PipelineItem& item) {
    for (const auto& [name, compares] : candidates_) {
      if (!item.answer.contains(compares.answer) || !item.fields.contains(compares.right)) continue;
      add(name);
      for (const Missed& one : early_) miss(judges_.front(), one);
      early_.clear();
      return;
    }
    misfit_ = fmt::format(
        "no accuracy measure compares an answer of {} with a data set of {}; add answer steps or a "
        "claim to the model's manifest, or set accuracy to false",
        value_names(item.answer), value_names(item.fields));
  }

  static double judge_by(Judge& one, const PipelineItem& item) {
    std::string fault = item.fault;
    if (fault.empty()) {
      try {
        return one.measure->judge(item.answer, item.fields);
      } catch (const Error& error) {
        fault = error.what();
      }
    }
    miss(one, {item.fields, fault});
    return 0;
  }

  static void miss(Judge& one, const Missed& sample) {
    one.measure->miss(sample.fields);
    if (one.missed++ == 0) one.first_fault = sample.fault;
  }

  static std::string missed_reason(std::int64_t missed, const std::string& first) {
    return fmt::format("{} samples have no answer that can be judged, the first: {}", missed,
                       first);
  }

  /// The record of a run in which no answer was judged.
  [[nodiscard]] Measurement unjudged(const Measurement& model) const {
    Measurement record = measured_of(model, accuracy_record("accuracy"));
    record.status = misfit_.empty() ? Status::failed : Status::unsupported;
    record.reason = misfit_;
    if (misfit_.empty() && !early_.empty()) {
      record.reason = missed_reason(std::int64_t(early_.size()), early_.front().fault);
    }
    return record;
  }

  std::vector<Judge> judges_;
  /// Measures to choose from; empty if a claim names them.
  std::vector<std::pair<std::string, AccuracyMeasure::Compared>> candidates_;
  std::vector<Missed> early_;  ///< samples without an answer before the first answer
  std::string misfit_;         ///< why no measure fits the first answer
};

}  // namespace

AccuracyRun run_accuracy(EvaluatedModel& model, const AccuracyOptions& options) {
  AccuracyRun run;
  Judges judges(model);
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
  run.pipeline = pipeline.run(samples, [&](PipelineItem& item) {
    const double score = judges.judge(item);
    run.answers.push_back(
        {.sample = item.sample,
         .answer = item.fault.empty() ? answer_text(item.answer) : "fault: " + item.fault,
         .score = score});
    if (options.sampled) options.sampled();
  });
  run.records = judges.records(model.record());
  for (Measurement& record : run.records) {
    record.conditions["batch"] = identity(options.batch);
    if (record.status == Status::failed && model.fault.empty()) {
      model.fault = record.metric + ": " + record.reason;
    }
  }
  return run;
}

}  // namespace d5::detail

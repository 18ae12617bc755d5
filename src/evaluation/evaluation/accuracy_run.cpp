// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation/accuracy_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/evaluation/accuracy_measure.hpp"

namespace d5::detail {
namespace {

struct NamedMeasure {
  std::string name;
  std::shared_ptr<AccuracyMeasure> measure;
  const AccuracyClaim* claim = nullptr;  ///< of the manifest, for this data set
};

/// What somebody claims for the data set; without any, how often the first class is right.
std::vector<NamedMeasure> measures_for(const EvaluatedModel& model) {
  std::vector<NamedMeasure> measures;
  const std::string dataset = model.dataset().reference();
  for (const AccuracyClaim& claim : model.manifest().accuracy) {
    if (claim.dataset != dataset && claim.dataset != model.dataset().name) continue;
    measures.push_back({claim.measure, accuracy_measures().at(claim.measure).make(), &claim});
  }
  if (measures.empty()) measures.push_back({"top1", accuracy_measures().at("top1").make()});
  return measures;
}

void hold_against_claim(Measurement& record, const AccuracyClaim& claim) {
  const double value = estimate(record).value;
  record.conditions["claimed"] = fmt::format("{}", claim.value);
  if (value >= claim.value - claim.tolerance) return;
  record.status = Status::failed;
  record.reason =
      fmt::format("{:.4g} of {} samples, but {} is claimed, {} less at most ({})", value,
                  record.samples.size(), claim.value, claim.tolerance, claim.source);
}

/// Samples [begin, end) answered together; where that fails each alone, so that one broken sample
/// spoils no other's answer.
std::vector<ValueMap> answers_of(EvaluatedModel& model, std::int64_t begin, std::int64_t end,
                                 std::int64_t batch, std::vector<std::string>& faults) {
  const ModelPipeline& pipeline = model.pipeline();
  std::vector<ValueMap> answers(std::size_t(end - begin)), prepared;
  faults.assign(answers.size(), {});
  std::vector<std::size_t> rows;
  for (std::int64_t sample = begin; sample < end; ++sample) {
    try {
      prepared.push_back(pipeline.prepare(sample));
      rows.push_back(std::size_t(sample - begin));
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      faults[std::size_t(sample - begin)] = error.what();
    }
  }
  if (prepared.empty()) return answers;
  const ValueMap outputs = model.predictor(batch).predict(ModelPipeline::batch(prepared));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      answers[rows[i]] = pipeline.answer(outputs, std::int64_t(i));
    } catch (const Error& error) {
      faults[rows[i]] = error.what();
    }
  }
  return answers;
}

}  // namespace

AccuracyRun run_accuracy(EvaluatedModel& model, std::int64_t batch, const Interrupt& interrupt,
                         const std::function<void()>& sampled) {
  AccuracyRun run;
  auto measures = measures_for(model);
  const std::int64_t size = model.pipeline().size();
  std::vector<std::string> faults;
  std::string first_fault;
  std::int64_t missed = 0;
  for (std::int64_t begin = 0; begin < size; begin += batch) {
    interrupt.check("accuracy of " + model.manifest().reference());
    const std::int64_t end = std::min(begin + batch, size);
    const auto answers = answers_of(model, begin, end, batch, faults);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      SampleAnswer kept{.sample = begin + std::int64_t(i)};
      const ValueMap right = model.pipeline().right(kept.sample);
      for (std::size_t m = 0; m < measures.size(); ++m) {
        double score = 0;
        if (faults[i].empty()) score = measures[m].measure->judge(answers[i], right);
        if (!faults[i].empty()) measures[m].measure->miss(right);
        if (m == 0) kept.score = score;
      }
      kept.answer = faults[i].empty() ? answer_text(answers[i]) : "fault: " + faults[i];
      if (!faults[i].empty() && missed++ == 0) first_fault = faults[i];
      run.answers.push_back(std::move(kept));
      if (sampled) sampled();
    }
  }
  for (const NamedMeasure& named : measures) {
    Measurement record = model.record();
    Measurement judged = named.measure->record();
    judged.subject = record.subject;
    judged.level = record.level;
    judged.framework = record.framework;
    judged.framework_version = record.framework_version;
    judged.conditions.merge(record.conditions);
    judged.artefacts = record.artefacts;
    judged.conditions["batch"] = std::to_string(batch);
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

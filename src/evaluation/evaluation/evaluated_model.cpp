// SPDX-License-Identifier: Apache-2.0
#include "evaluation/evaluation/evaluated_model.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/core/threads.hpp"
#include "d5/evaluation/dataset_samples.hpp"
#include "d5/evaluation/model_assets.hpp"
#include "d5/level1_network/model_source.hpp"

namespace d5::detail {

EvaluatedModel::EvaluatedModel(const FixedEvaluation& evaluation, std::size_t model,
                               std::string word, Interrupt interrupt)
    : evaluation_(evaluation),
      model_(evaluation.models[model]),
      dataset_(evaluation.datasets[model]),
      word_(std::move(word)),
      interrupt_(std::move(interrupt)) {}

void EvaluatedModel::find() {
  if (assets_) return;
  ModelAssets assets = find_assets(model_, interrupt_);
  expect_agreement(model_.manifest, open_model(assets.network));
  assets_ = std::move(assets);
}

ModelPipeline& EvaluatedModel::pipeline() {
  if (pipeline_) return *pipeline_;
  std::vector<PipelineInput> inputs;
  for (const ModelInput& input : model_.manifest.inputs) {
    inputs.push_back({.name = input.name, .field = input.field, .steps = input.steps});
  }
  auto samples = open_samples(dataset_.manifest, evaluation_.manifest.split, interrupt_);
  pipeline_ = std::make_unique<ModelPipeline>(std::move(samples), std::move(inputs),
                                              model_.manifest.answer);
  return *pipeline_;
}

Predictor& EvaluatedModel::predictor(std::int64_t batch) {
  find();
  expect_framework(model_.manifest, word_);
  if (!predictor_ || batch != batch_) {
    predictor_.reset();  // before the next takes its memory
    ColdStart cold_start;
    predictor_ = open_predictor(
        word_, *assets_,
        {.threads = static_cast<int>(evaluation_.manifest.threads), .largest_batch = batch},
        &cold_start);
    cold_start_ = cold_start;
    batch_ = batch;
  }
  return *predictor_;
}

std::optional<ColdStart> EvaluatedModel::take_cold_start() {
  return std::exchange(cold_start_, std::nullopt);
}

Measurement EvaluatedModel::record() const {
  Measurement record;
  record.level = "evaluation";
  record.subject = model_.manifest.reference();
  record.framework = word_;
  record.conditions["dataset"] = dataset_.manifest.reference();
  if (!evaluation_.manifest.split.empty()) {
    record.conditions["split"] = evaluation_.manifest.split;
  }
  record.conditions["threads"] = std::to_string(threads());
  if (predictor_) record.framework_version = predictor_version(word_);
  record.artefacts.push_back(
      {.name = "evaluation", .version = evaluation_.manifest.version, .sha256 = evaluation_.key});
  record.artefacts.push_back(
      {.name = model_.manifest.name, .version = model_.manifest.version, .sha256 = model_.digest});
  for (const ManifestAsset& asset : model_.manifest.assets) {
    record.artefacts.push_back({.name = asset.name, .version = {}, .sha256 = asset.sha256});
  }
  record.artefacts.push_back({.name = dataset_.manifest.name,
                              .version = dataset_.manifest.version,
                              .sha256 = dataset_.digest});
  return record;
}

Measurement measured_of(const Measurement& record, Measurement measured) {
  measured.subject = record.subject;
  measured.level = record.level;
  measured.framework = record.framework;
  measured.framework_version = record.framework_version;
  measured.artefacts = record.artefacts;
  for (const auto& [name, text] : record.conditions) measured.conditions[name] = text;
  return measured;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/evaluated_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/evaluation/manifest/dataset_samples.hpp"
#include "d5/evaluation/manifest/semantic_version.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/run/model_assets.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "evaluation/manifest/manifest_paths.hpp"
#include "evaluation/run/model_texts.hpp"
#include "evaluation/run/pipeline_prompts.hpp"

namespace d5::detail {
namespace {

/// How the manifest's network is called.
ModelCall call_of(const ModelManifest& manifest) {
  ModelCall call;
  call.state = manifest.state;
  for (const ModelInput& input : manifest.inputs) {
    call.batch_axes[input.name] = input.batch_axis;
    const bool is_state = std::ranges::any_of(
        manifest.state, [&](const auto& back) { return back.second == input.name; });
    if (!is_state && !input.constant) continue;
    std::vector<std::int64_t> sizes = input.shape;
    std::ranges::replace(sizes, std::int64_t{0}, kUnknownDim);
    call.fixed[input.name] = {
        .desc = {dtype_from_name(input.type), Shape(std::move(sizes))},
        .value = input.constant.value_or(0),
    };
  }
  for (const ModelOutput& output : manifest.outputs) {
    call.batch_axes[output.name] = output.batch_axis;
  }
  return call;
}

/// Throws: ValueError for a plug-in that differs; Unsupported for an unsupported version.
void expect_told(const FrameworkManifest& told) {
  if (!told.plugin.empty()) {
    const std::string plugin = located(told.plugin, told.beside, told.reference() + ": plugin");
    const std::string digest = sha256(read_file(plugin));
    if (!told.plugin_sha256.empty() && digest != told.plugin_sha256) {
      throw ValueError(fmt::format("{}: plug-in '{}' has SHA-256 {}, but the manifest has {}",
                                   told.reference(), printable(plugin), digest,
                                   told.plugin_sha256));
    }
    (void)framework(plugin);
  }
  if (told.requires_version.empty()) return;
  const std::string version = predictor_version(told.word);
  if (VersionRange::parse(told.requires_version).holds(SemanticVersion::of_framework(version)))
    return;
  throw Unsupported(fmt::format("{} requires {} {}, but here is {}", told.reference(), told.word,
                                told.requires_version, version.empty() ? "none" : version));
}

/// Size of a model's files in bytes; 0 if its manifest does not say.
std::int64_t bytes_of(const ModelManifest& model) {
  std::int64_t bytes = 0;
  for (const ManifestAsset& asset : model.assets) bytes += asset.bytes;
  return bytes;
}

}  // namespace

EvaluatedModel::EvaluatedModel(const FixedEvaluation& evaluation, std::size_t model,
                               const FixedFramework& framework, Interrupt interrupt)
    : evaluation_(evaluation),
      model_(evaluation.models[model]),
      dataset_(evaluation.datasets[model]),
      framework_(framework),
      interrupt_(std::move(interrupt)),
      generator_(generator_of(model_)) {}

const ModelAssets& EvaluatedModel::assets() {
  if (!assets_) assets_ = find_assets(model_, interrupt_);
  return *assets_;
}

void EvaluatedModel::expect_openable() {
  (void)assets();
  if (!agrees_ && model_.manifest.has_network())
    expect_agreement(model_.manifest, open_model(assets_->network));
  agrees_ = true;
  if (framework_.told) expect_told(framework_.told->manifest);
  expect_framework(model_.manifest, word());
}

template <class E>
std::vector<EntryChoice> EvaluatedModel::with_files(std::vector<EntryChoice> steps,
                                                    const Registry<E>& registry) {
  const auto options_of = [&](const std::string& step) { return registry.at(step).options(); };
  steps =
      with_model_texts(std::move(steps), options_of,
                       {.metadata = [&] { return open_model(assets().network).model().metadata; },
                        .files = [&] { return assets().files; }});
  for (EntryChoice& step : steps) {
    step = located(step, options_of(step.name), model_.manifest.beside);
  }
  return steps;
}

ModelPipeline& EvaluatedModel::pipeline() {
  if (pipeline_) return *pipeline_;
  ModelCall call = call_of(model_.manifest);
  std::vector<PipelineInput> inputs;
  for (const ModelInput& input : model_.manifest.inputs) {
    if (call.fixed.contains(input.name)) continue;
    PipelineInput& one = inputs.emplace_back(PipelineInput{.name = input.name,
                                                           .field = input.field,
                                                           .steps = input.steps,
                                                           .rank = input.shape.size()});
    one.steps = with_files(std::move(one.steps), sample_steps());
  }
  auto samples = open_samples(dataset_.manifest, evaluation_.manifest.split, interrupt_);
  pipeline_ = std::make_unique<ModelPipeline>(std::move(samples), std::move(inputs),
                                              with_files(model_.manifest.answer, answer_steps()),
                                              dataset_.manifest.labels, std::move(call));
  return *pipeline_;
}

ValueMap EvaluatedModel::warm_up_inputs(std::int64_t batch) {
  if (!model_.manifest.has_network()) return {};
  constexpr std::int64_t kMostTried = 10;  // some may have faults
  const std::int64_t most = std::min(kMostTried, pipeline().size());
  for (std::int64_t sample = 0; sample < most; ++sample) {
    PipelineItem item{.sample = sample};
    item.attempt([&] { pipeline().prepare(item); });
    if (item.fault.empty()) {
      return pipeline().batch(std::vector<PipelineItem*>(std::size_t(batch), &item));
    }
  }
  return {};
}

std::shared_ptr<Predictor> EvaluatedModel::predictor(std::int64_t batch) {
  expect_openable();
  if (!predictor_ || batch != batch_) {
    predictor_.reset();  // frees its memory before the next one opens
    ColdStart cold_start;
    predictor_ = open(batch, cold_start);
    cold_start_ = cold_start;
    batch_ = batch;
  }
  return predictor_;
}

bool EvaluatedModel::opens_generator() const { return generator_ && !find_predictor(word()); }

std::shared_ptr<Predictor> EvaluatedModel::open(std::int64_t batch, ColdStart& cold_start) {
  const auto threads = static_cast<int>(evaluation_.manifest.threads);
  if (!opens_generator()) {
    return open_predictor(
        word(), *assets_,
        {.threads = threads, .largest_batch = batch, .warm_up_inputs = warm_up_inputs(batch)},
        &cold_start);
  }
  if (threads > 0) set_threads(threads);
  const double before = now_seconds();
  auto opened = std::make_shared<GeneratorPredictor>(*generator_, *assets_, word(), batch);
  const double begin = now_seconds();
  opened->warm_up();
  cold_start = {.open_seconds = begin - before, .first_seconds = now_seconds() - begin};
  return opened;
}

std::shared_ptr<GeneratorPredictor> EvaluatedModel::generating(std::int64_t batch) {
  return opens_generator() ? std::dynamic_pointer_cast<GeneratorPredictor>(predictor(batch))
                           : nullptr;
}

std::shared_ptr<GeneratorPredictor> EvaluatedModel::opened_generator() const {
  return std::dynamic_pointer_cast<GeneratorPredictor>(predictor_);
}

RegretJudge& EvaluatedModel::judge() {
  if (!judge_) {
    const std::int64_t capacity = generator_word(word()).settings.capacity;
    judge_.emplace(
        open_generator(*generator_, assets().files, {.slots = 1, .capacity = capacity}).network);
  }
  return *judge_;
}

std::unique_ptr<SystemUnderTest> EvaluatedModel::text_system(std::int64_t batch) {
  const bool steps = opens_generator();
  const EvaluationManifest& asked = evaluation_.manifest;
  if (steps && (asked.instances > 1 || asked.longest_wait > 0)) {
    throw Unsupported(fmt::format(
        "{} in {} is one generator, which takes a text as soon as a slot is free; leave out "
        "instances and longest_wait, and give the texts at once as the batch size, {}",
        model_.manifest.reference(), word(), option_word("batch", 4)));
  }
  const auto text = std::dynamic_pointer_cast<TextPredictor>(predictor(steps ? batch : 1));
  if (!text) {
    throw Unsupported(fmt::format(
        "{} has no network file (format: none), and {} generates no text; choose a framework such "
        "as openai:URL, or clockwork",
        model_.manifest.reference(), word()));
  }
  if (!prompts_) prompts_ = std::make_unique<PipelinePrompts>(pipeline());
  return text->system(*prompts_);
}

std::shared_ptr<Predictor> EvaluatedModel::open_beside(std::int64_t batch) {
  expect_openable();
  ColdStart cold_start;
  auto predictor = open_predictor(word(), *assets_,
                                  {.largest_batch = batch, .warm_up_inputs = warm_up_inputs(batch)},
                                  &cold_start);
  if (!cold_start_) cold_start_ = cold_start;
  return predictor;
}

std::optional<ColdStart> EvaluatedModel::take_cold_start() {
  return std::exchange(cold_start_, std::nullopt);
}

Measurement EvaluatedModel::record() const {
  Measurement record;
  record.level = "evaluation";
  record.subject = model_.manifest.reference();
  record.framework = word();
  record.conditions = told;
  record.conditions["dataset"] = identity(dataset_.manifest.reference());
  if (!evaluation_.manifest.split.empty()) {
    record.conditions["split"] = identity(evaluation_.manifest.split);
  }
  record.conditions["threads"] = identity(threads());
  if (const std::int64_t bytes = bytes_of(model_.manifest); bytes > 0) {
    record.conditions["model bytes"] = aside(bytes, "byte");
  }
  if (predictor_) record.framework_version = predictor_version(word());
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

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/model_manifest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/entries/unknown_name.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/level2_training/data/own_steps.hpp"
#include "d5/level2_training/data/sample_step.hpp"
#include "evaluation/manifest/asset_text.hpp"

namespace d5 {
namespace {

FieldRule type_rule() {
  FieldRule rule;
  rule.fault_of = [](const std::string& text) -> std::string {
    try {
      (void)dtype_from_name(text);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  return rule;
}

/// Steps of one's own are refused unless they are allowed.
FieldRule step_rule() {
  FieldRule rule;
  rule.fault_of = own_step_refusal;
  return rule;
}

/// An address for a download; another rule covers addresses of this machine.
FieldRule url_rule() {
  return {.pattern = "(https?|file)://[^\\s]+",
          .expected = "an address of https, http or file",
          .is_local = [](const std::string& url) { return !url.starts_with("http"); }};
}

}  // namespace

void ManifestAsset::declare(ManifestFields& fields) {
  FieldRule digest = digest_rule();
  digest.required = true;
  fields.add("name", name, "name of the file", name_rule());
  fields.add("urls", urls, "addresses of the file, tried in order", url_rule());
  fields.add("bytes", bytes, "size of the file", {.required = true, .range = {.least = 0}});
  fields.add("sha256", sha256, "digest of the file", digest);
  fields.add("made_by", made_by, "command that makes it, if no address has it",
             {.is_local = [](const std::string&) { return true; }});
  if (urls.empty() && made_by.empty()) fields.expect("neither 'urls' nor 'made_by' is given");
}

void ModelInput::declare(ManifestFields& fields) {
  fields.add("name", name, "name of the network's input", {.required = true});
  fields.add("field", field, "field of the data set that it is made from");
  fields.add("modality", modality, "modality: image, text, audio, tensor");
  fields.add("type", type, "element type", type_rule());
  fields.add("shape", shape, "shape of one sample, without the batch; 0: any size",
             {.range = {.least = 0}});
  fields.add("batch_axis", batch_axis, "dimension of the batch in the network's input; -1: none",
             {.range = {.least = -1}});
  fields.add("constant", constant,
             "value of all elements, for an input that no field of the data set has");
  fields.add("steps", steps, "preprocessing steps from the data set's field to the input, in order",
             sample_steps(), step_rule());
  if (constant && !steps.empty()) fields.expect("expected either 'constant' or 'steps'");
  if (batch_axis > std::int64_t(shape.size())) {
    fields.expect(fmt::format("batch_axis: {}, expected 0 to {}, the dimensions of 'shape', or -1",
                              batch_axis, shape.size()));
  }
}

void ModelOutput::declare(ManifestFields& fields) {
  fields.add("name", name, "name of the network's output", {.required = true});
  fields.add("modality", modality, "modality: scores, boxes, mask, tensor");
  fields.add("type", type, "element type", type_rule());
  fields.add("batch_axis", batch_axis, "dimension of the batch in the network's output; -1: none",
             {.range = {.least = -1}});
}

void AccuracyClaim::declare(ManifestFields& fields) {
  fields.add("dataset", dataset, "data set, as NAME@VERSION",
             {.required = true, .is_local = is_manifest_path});
  std::vector<std::string> measures = accuracy_measures().names();
  fields.add("measure", measure, "accuracy measure", {.required = true, .words = measures});
  fields.add("value", value, "claimed accuracy",
             {.required = true, .range = {.least = 0, .most = 1}});
  fields.add("tolerance", tolerance, "allowed shortfall", {.range = {.least = 0, .most = 1}});
  fields.add("source", source, "source of the claim: who measured it, and how", {.required = true});
}

void ModelManifest::expect_state(const std::string& output, const std::string& input,
                                 ManifestFields& fields) const {
  const auto in = std::ranges::find(inputs, input, &ModelInput::name);
  const auto out = std::ranges::find(outputs, output, &ModelOutput::name);
  if (in == inputs.end() || out == outputs.end()) {
    fields.expect(fmt::format("state: '{}: {}', expected an output and an input of the manifest",
                              printable(output), printable(input)));
  } else if (!in->steps.empty()) {
    fields.expect(fmt::format("state: input '{}' has steps, expected none", printable(input)));
  }
}

void ModelManifest::expect_assets(const std::vector<EntryChoice>& steps, const std::string& where,
                                  ManifestFields& fields) const {
  std::vector<std::string> names;
  for (const ManifestAsset& asset : assets) names.push_back(asset.name);
  for (const EntryChoice& step : steps) {
    for (const auto& [setting, value] : step.settings.values()) {
      const std::string asset = detail::asset_named(value);
      if (asset.empty() || std::ranges::find(names, asset) != names.end()) continue;
      const std::string kind = fmt::format("{}: step {}: {}: asset", where, step.name, setting);
      fields.expect(detail::unknown_name(kind, asset, names));
    }
  }
}

void ModelManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("task", task, "task: image classification, object detection", {.required = true});
  fields.add("licence", licence, "licence, as an SPDX expression", {.required = true});
  fields.add("source", source, "origin of the model, for people");
  fields.add("format", format, "file format of the network; none: its framework has the model",
             {.words = {"onnx", kNone}});
  fields.add("frameworks", frameworks, "supported versions of frameworks, by name", range_rule());
  fields.add("assets", assets, "files of the model; the first is the network");
  fields.add("inputs", inputs, "inputs of the network");
  fields.add("outputs", outputs, "outputs of the network");
  fields.add("state", state,
             "outputs that return as inputs of the next frame's call, as OUTPUT: INPUT; zeros, or "
             "the input's constant, at the start of each sample");
  for (const auto& [output, input] : state) expect_state(output, input, fields);
  fields.add("answer", answer,
             "postprocessing steps from the outputs of one sample to an answer, in order",
             answer_steps(), step_rule());
  for (const ModelInput& input : inputs) expect_assets(input.steps, "inputs", fields);
  expect_assets(answer, "answer", fields);
  fields.add("accuracy", accuracy, "claimed accuracies, with their sources");
  expect_network(fields);
}

void ModelManifest::expect_network(ManifestFields& fields) const {
  if (has_network()) {
    if (assets.empty()) fields.expect("'assets' is missing");
    if (inputs.empty()) fields.expect("'inputs' is missing");
    if (outputs.empty()) fields.expect("'outputs' is missing");
    return;
  }
  if (inputs.empty() && outputs.empty() && answer.empty() && state.empty() && accuracy.empty()) {
    return;
  }
  fields.expect(
      "format: none, expected no 'inputs', 'outputs', 'state', 'answer' and 'accuracy': its "
      "framework takes prompts and answers with text");
}

namespace manifest_kind {

void register_model(Registry<ManifestKind>& registry) {
  registry.add(
      "model",
      ManifestKind::of<ModelManifest>(
          "model as it is used: its network, preprocessing, postprocessing, and claimed accuracy"));
}

}  // namespace manifest_kind
}  // namespace d5

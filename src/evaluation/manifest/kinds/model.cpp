// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/model_manifest.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
#include "d5/evaluation/manifest/manifest_place.hpp"
#include "d5/evaluation/pipeline/answer_step.hpp"
#include "d5/evaluation/pipeline/own_steps.hpp"
#include "d5/level2_training/data/sample_step.hpp"

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
  FieldRule step_rule;
  step_rule.fault_of = own_step_refusal;
  fields.add("steps", steps, "preprocessing steps from the data set's field to the input, in order",
             sample_steps(), step_rule);
}

void ModelOutput::declare(ManifestFields& fields) {
  fields.add("name", name, "name of the network's output", {.required = true});
  fields.add("modality", modality, "modality: scores, boxes, mask, tensor");
  fields.add("type", type, "element type", type_rule());
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

void ModelManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("task", task, "task: image classification, object detection", {.required = true});
  fields.add("licence", licence, "licence, as an SPDX expression", {.required = true});
  fields.add("source", source, "origin of the model, for people");
  fields.add("format", format, "file format of the network", {.words = {"onnx"}});
  fields.add("frameworks", frameworks, "supported versions of frameworks, by name", range_rule());
  fields.add("assets", assets, "files of the model; the first is the network", {.required = true});
  fields.add("inputs", inputs, "inputs of the network", {.required = true});
  fields.add("outputs", outputs, "outputs of the network", {.required = true});
  fields.add("answer", answer,
             "postprocessing steps from the outputs of one sample to an answer, in order",
             answer_steps());
  fields.add("accuracy", accuracy, "claimed accuracies, with their sources");
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

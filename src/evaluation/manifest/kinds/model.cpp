// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/model_manifest.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/dtype.hpp"
#include "d5/evaluation/accuracy/accuracy_measure.hpp"
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

/// An address that a download takes; one of this machine is another rule's.
FieldRule url_rule() {
  return {.pattern = "(https?|file)://[^\\s]+",
          .expected = "an address of https, http or file",
          .is_local = [](const std::string& url) { return !url.starts_with("http"); }};
}

}  // namespace

void ManifestAsset::declare(ManifestFields& fields) {
  FieldRule digest = digest_rule();
  digest.required = true;
  fields.add("name", name, "of the file", name_rule());
  fields.add("urls", urls, "where it may be had, tried in order", url_rule());
  fields.add("bytes", bytes, "of the file", {.required = true, .range = {.least = 0}});
  fields.add("sha256", sha256, "of its bytes", digest);
  fields.add("made_by", made_by, "the command that makes it, where it can be had nowhere",
             {.is_local = [](const std::string&) { return true; }});
  if (urls.empty() && made_by.empty()) fields.expect("neither 'urls' nor 'made_by' is given");
}

void ModelInput::declare(ManifestFields& fields) {
  fields.add("name", name, "of the network's input", {.required = true});
  fields.add("field", field, "of the data set that it is made from");
  fields.add("modality", modality, "what it shows: image, text, audio, tensor");
  fields.add("type", type, "of its elements", type_rule());
  fields.add("shape", shape, "of one sample, without the batch; 0: any size",
             {.range = {.least = 0}});
  FieldRule step_rule;
  step_rule.fault_of = own_step_refusal;
  fields.add("steps", steps, "from what the data set holds to the input, in order", sample_steps(),
             step_rule);
}

void ModelOutput::declare(ManifestFields& fields) {
  fields.add("name", name, "of the network's output", {.required = true});
  fields.add("modality", modality, "what it says: scores, boxes, mask, tensor");
  fields.add("type", type, "of its elements", type_rule());
}

void AccuracyClaim::declare(ManifestFields& fields) {
  fields.add("dataset", dataset, "NAME@VERSION of the data set", {.required = true});
  std::vector<std::string> measures = accuracy_measures().names();
  fields.add("measure", measure, "what was measured", {.required = true, .words = measures});
  fields.add("value", value, "what it was", {.required = true, .range = {.least = 0, .most = 1}});
  fields.add("tolerance", tolerance, "so much less is no miss", {.range = {.least = 0, .most = 1}});
  fields.add("source", source, "who says so, and how it was measured", {.required = true});
}

void ModelManifest::declare(ManifestFields& fields) {
  ManifestIdentity::declare(fields);
  fields.add("task", task, "what it does: image classification, object detection",
             {.required = true});
  fields.add("licence", licence, "SPDX expression", {.required = true});
  fields.add("source", source, "where it comes from, for people");
  fields.add("format", format, "of the network", {.words = {"onnx"}});
  fields.add("frameworks", frameworks, "which versions of a framework will do, by its name",
             range_rule());
  fields.add("assets", assets, "its files; the first is the network", {.required = true});
  fields.add("inputs", inputs, "of the network", {.required = true});
  fields.add("outputs", outputs, "of the network", {.required = true});
  fields.add("answer", answer, "from the outputs of one sample to an answer, in order",
             answer_steps());
  fields.add("accuracy", accuracy, "how accurate it is, as somebody says");
}

namespace manifest_kind {

void register_model(Registry<ManifestKind>& registry) {
  registry.add("model", ManifestKind::of<ModelManifest>(
                            "a model as it is used: its network, the way in and the way out, and "
                            "the accuracy that its author claims"));
}

}  // namespace manifest_kind
}  // namespace d5

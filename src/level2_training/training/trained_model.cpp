// SPDX-License-Identifier: Apache-2.0
#include "level2_training/training/trained_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/sha256.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level2_training/losses/loss.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/frozen_parameters.hpp"
#include "level1_network/graph/parameter_layout.hpp"
#include "level2_training/data/storage/mapped_file.hpp"
#include "level2_training/optimization/taken_options.hpp"
#include "level2_training/training/changed_parameters.hpp"

namespace d5::detail {
namespace {

constexpr const char *kAuto = "auto", *kNone = "none";  // words of `freeze`

/// Options of every model.
struct TrainingOfModel {
  std::string freeze = kAuto;

  void declare(OptionList& options) {
    options.add("freeze", freeze,
                "parameters to freeze, as name patterns; auto: those that the exporting program "
                "did not train; none: not even these");
  }
};

/// Names of a built-in network's outputs and fields.
struct EndOptions {
  std::string loss = "loss", logits = "logits", label = "label";

  void declare(OptionList& options) {
    options.add("loss", loss, "output that is the loss");
    options.add("logits", logits, "output with a score for each class");
    options.add("label", label, "field of a batch with the right class");
  }
};

/// Options of a network from a file.
struct FileOptions {
  std::string file;
  EntryChoice loss{.name = "loss"};
  std::string logits, label = "label";
  NetworkMode mode = NetworkMode::training;

  void declare(OptionList& options) {
    options.add("file", file, "ONNX file");
    options.add("loss", loss, "loss to append, or name of an output that is one", "loss");
    options.add("logits", logits, "output that the loss reads");
    options.add("label", label, "field of a batch that the loss reads");
    options.add("mode", mode, "mode of BatchNormalization and Dropout", {"as_written", "training"});
  }
};

std::vector<std::string> patterns_in(const std::string& text) {
  std::vector<std::string> patterns;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) patterns.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return patterns;
}

const Dataset::Field& field_of(const Dataset& data, const std::string& name,
                               const std::string& who) {
  const auto& fields = data.fields();
  const auto place = std::ranges::find(fields, name, &Dataset::Field::name);
  if (place != fields.end()) return *place;
  std::vector<std::string> known;
  for (const auto& field : fields) known.push_back(field.name);
  throw_unknown_name(who, name, known);
}

/// Renames the network's inputs to the fields of a batch: "inputs: {x: image}".
void name_inputs(TrainedModel& model, const Settings& inputs, const Dataset& data) {
  for (const auto& [input, field] : inputs.values()) {
    const auto known = model.network.input_names();
    if (std::ranges::find(known, input) == known.end()) {
      throw_unknown_name(inputs.place_of(input) + ": input of the network", input, known);
    }
    model.network.rename(input, field);
    model.inputs[field] = input;
  }
  for (const std::string& input : model.network.input_names()) {
    if (input.ends_with(".length")) continue;  // lengths of a field with an open dimension
    (void)field_of(data, input,
                   fmt::format("network '{}': input '{}' is fed by the data set's field of that "
                               "name; say in the recipe which it is, as in model.inputs.{}: field",
                               model.name, printable(input), printable(input)));
  }
}

/// Throws: NotFound with the existing outputs.
void expect_output(const TrainedModel& model, const char* what, const std::string& name) {
  const auto outputs = model.network.output_names();
  if (std::ranges::find(outputs, name) != outputs.end()) return;
  throw_unknown_name(fmt::format("network '{}': {}, an output,", printable(model.name), what), name,
                     outputs);
}

/// Throws: NotFound if the name is neither a loss nor an output.
void expect_loss(const TrainedModel& model, const std::string& name,
                 const std::vector<std::string>& outputs) {
  std::vector<std::string> known = losses().names();
  if (std::ranges::find(known, name) != known.end()) return;
  known.insert(known.end(), outputs.begin(), outputs.end());
  throw_unknown_name(fmt::format("network '{}': loss that is appended, or output that is the loss,",
                                 printable(model.name)),
                     name, known);
}

void take_loss(TrainedModel& model, const FileOptions& options, const Dataset& data) {
  const auto outputs = model.network.output_names();
  const bool is_output = std::ranges::find(outputs, options.loss.name) != outputs.end();
  model.logits = options.logits;
  if (is_output) {
    model.loss = options.loss.name;
    if (model.logits.empty()) {
      model.logits = ClassificationNames().logits;
    } else {
      expect_output(model, "logits", model.logits);
    }
    return;
  }
  expect_loss(model, options.loss.name, outputs);
  const Dataset::Field& label =
      field_of(data, options.label, fmt::format("loss {}: field", printable(options.loss.name)));
  LossEnds ends{.output = options.logits,
                .target = options.label,
                .target_type = label.desc.dtype,
                .target_dims = {onnx::Dim{}},
                .loss = model.network.unused_name("loss")};
  for (const std::int64_t dim : label.desc.shape.dims()) {
    ends.target_dims.push_back(dim == kUnknownDim ? onnx::Dim{} : onnx::Dim{dim});
  }
  append_loss(model.network, options.loss.name, ends, options.loss.settings);
  if (model.logits.empty()) model.logits = outputs.front();
  model.loss = model.appended = ends.loss;
  model.tells_classes = options.loss.name == "cross_entropy";
}

TrainedModel from_file(const Settings& settings, const Dataset& data) {
  Settings own = settings;
  Settings inputs = own.below("inputs").owned_by("model");
  for (const auto& [name, value] : settings.values()) {
    if (name.starts_with("inputs.")) own.take(name, "");
  }
  const auto options = read_options<FileOptions>(own.owned_by("model"));
  TrainedModel model{.network = Network::load(options.file),
                     .name = model_name(options.file),
                     .label = options.label,
                     .mode = options.mode,
                     .artefacts = {model_artefact(options.file)}};
  name_inputs(model, inputs, data);
  take_loss(model, options, data);
  return model;
}

TrainedModel built_in(EntryChoice choice, std::uint64_t seed) {
  const ModelEntry& builder = models().at(choice.name);
  // The names of loss, logits and label belong to the session; the other settings to the model.
  const auto ends = take_options<EndOptions>(choice.settings);
  TrainedModel model{.network = Network(choice.name),
                     .name = choice.name,
                     .loss = ends.loss,
                     .logits = ends.logits,
                     .label = ends.label};
  builder.offer(choice.settings, "seed", seed);
  const bool is_asked = builder.has_option("with_loss") && !choice.settings.has("with_loss");
  builder.offer(choice.settings, "with_loss", true);
  model.network = builder.make(choice.settings);
  if (is_asked) model.appended = model.loss;
  return model;
}

/// Constants that are trained under `freeze: none` only.
std::vector<std::string> kept_constants(const Network& network) {
  std::vector<std::string> names;
  for (const auto& [name, why] : network.parameter_notes().constants) {
    const auto place = network.graph().initializers.find(name);
    const bool is_real =
        place != network.graph().initializers.end() && may_be_trained(place->second.dtype());
    if (is_real && !network.is_parameter(name)) names.push_back(name);
  }
  return names;
}

void take_frozen(TrainedModel& model, const std::string& text) {
  auto patterns = patterns_in(text);
  const auto takes = [&](const char* word) { return std::erase(patterns, word) > 0; };
  const bool all = takes(kNone);
  if (all && (takes(kAuto) || !patterns.empty())) {
    throw ValueError(
        fmt::format("model: freeze is '{}', expected none alone, or auto and patterns of names",
                    printable(text)));
  }
  (void)takes(kAuto);
  if (all) unfreeze(model.network, kept_constants(model.network));
  model.frozen = freeze(model.network, patterns);
}

}  // namespace

std::vector<Option> model_options(bool from_file) {
  auto options = options_of<TrainingOfModel>();
  const auto add = [&](const std::vector<Option>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add(from_file ? options_of<FileOptions>() : options_of<EndOptions>());
  Option& ends = options.emplace_back();
  ends.name = from_file ? "inputs" : "name";
  ends.type = "text";
  return options;
}

Network TrainedModel::learnt() const {
  Network result = appended.empty() ? network.copy() : without_loss(network, appended);
  unfreeze(result, frozen);
  for (const auto& [field, input] : inputs) result.rename(field, input);
  return result;
}

TrainedModel trained_model(const Recipe& recipe, const Dataset& data, const InitialValues& init) {
  Settings settings = recipe.section("model");
  const auto training = take_options<TrainingOfModel>(settings);
  TrainedModel model = settings.has("file") ? from_file(settings, data)
                                            : built_in({settings.take("name", ""), settings},
                                                       recipe.training().seed);
  if (!init.path.empty()) {
    model.taken = take_values(model.network, init);
    model.begun_with = {{.name = std::filesystem::path(init.path).filename().string(),
                         .sha256 = sha256(MappedFile(init.path).bytes())}};
  }
  expect_output(model, "loss", model.loss);
  take_frozen(model, training.freeze);
  expect_parameters(model.network);
  return model;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/source/model_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/files/clutter.hpp"
#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "d5/onnx/file.hpp"
#include "d5/onnx/schema.hpp"
#include "d5/version.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

bool is_path(const std::string& model) {
  std::error_code ignored;
  return fs::exists(model, ignored) || model.ends_with(".onnx") ||
         model.find('/') != std::string::npos;
}

/// The path of the model's file; empty for a built-in network and for a case.
std::string file_of(const std::string& model) {
  if (is_test_folder(model)) return onnx::open_test_folder(model).model_path;
  return is_path(model) ? model : "";
}

bool is_case(const std::string& model) {
  return model.find(' ') != std::string::npos && !is_path(model);
}

std::vector<std::string> lines_of(const std::vector<CaseLine>& cases) {
  std::vector<std::string> lines;
  for (const CaseLine& one : cases) lines.push_back(one.line);
  return lines;
}

/// Throws: NotFound, with a hint if the word is an operator without shapes.
const ModelEntry& entry_of(const std::string& name) {
  onnx::Node node;
  node.op_type = name;
  node.opset = onnx::newest_opset("");
  if (!models().find(name) && onnx::schema_of(node)) {
    throw NotFound(
        fmt::format("network '{}' is unknown; for a network of one operator, give a case with its "
                    "shapes in quotes: \"Gemm 2x3 3x4\"",
                    name));
  }
  if (const auto colon = name.find(':'); models().find(name.substr(0, colon))) {
    if (colon == std::string::npos) return models().at(name);
    throw NotFound(fmt::format(
        "network '{}': expected the name {} alone, for a network with the defaults of its options; "
        "a recipe ('model') and Python (d5.model) set options",
        printable(name), name.substr(0, colon)));
  }
  return models().at(name);
}

/// Models in a folder that is not a test folder.
std::vector<std::string> models_in(const std::string& folder) {
  std::vector<std::string> models;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (detail::is_clutter(entry.path().filename().string())) continue;
    const bool is_model = entry.is_directory() ? fs::exists(entry.path() / "model.onnx")
                                               : entry.path().extension() == ".onnx";
    if (is_model) models.push_back(entry.path().string());
  }
  std::ranges::sort(models);
  return models;
}

}  // namespace

std::vector<std::string> models_of(const std::vector<std::string>& words) {
  std::vector<std::string> models;
  for (const auto& word : words) {
    std::vector<std::string> found;
    if (is_case(word)) found = lines_of(expand_case(word));
    if (word.ends_with(".txt")) found = lines_of(read_cases(word));
    if (is_test_folder(word) && !fs::exists(fs::path(word) / "model.onnx")) found = models_in(word);
    if (found.empty()) found = {word};  // a folder without models says so where it is opened
    for (auto& one : found) models.push_back(std::move(one));
    const std::string file = file_of(models.back());
    if (file.empty() && !is_case(models.back())) (void)entry_of(word);
    if (!file.empty() && !fs::exists(file)) {
      throw IoError(fmt::format("cannot read '{}': there is no such file", printable(file)));
    }
  }
  return models;
}

bool is_network(const std::string& word) {
  std::error_code ignored;
  return models().find(word) || fs::exists(word, ignored);
}

bool is_test_folder(const std::string& model) {
  std::error_code ignored;
  return fs::is_directory(model, ignored);
}

Network open_model(const std::string& model, const Settings& wishes, const Interrupt& interrupt) {
  const std::string file = file_of(model);
  if (!file.empty()) return Network::load(file, {.interrupt = interrupt});
  if (is_case(model)) return case_network(parse_case(model, wishes.natural("seed", 0)));
  const ModelEntry& entry = entry_of(model);
  Settings settings;
  for (const auto& [name, value] : wishes.values()) entry.offer(settings, name, value);
  return entry.make(settings);
}

Network open_model(const std::string& model, const Settings& wishes,
                   const TransformChain& transforms, const Interrupt& interrupt) {
  Network network = open_model(model, wishes, interrupt);
  apply_transforms(network, transforms, wishes);
  return network;
}

std::string model_name(const std::string& model) {
  const std::string file = file_of(model);
  if (file.empty()) return model;
  const fs::path path = fs::absolute(file).lexically_normal();
  const std::string stem = path.stem().string(), folder = path.parent_path().filename().string();
  return stem == "model" && !folder.empty() ? folder : stem;
}

Artefact model_artefact(const std::string& model) {
  const std::string file = file_of(model);
  if (file.empty()) {
    return {.name = (is_case(model) ? "case " : "network ") + model, .version = D5_VERSION};
  }
  return {.name = fs::path(file).filename().string(),
          .sha256 = detail::sha256(read_file(file, onnx::LoadOptions{}.most_file_bytes))};
}

Settings run_wishes(const std::string& word, const OpenSizes& sizes,
                    const ExecutorOptions& execution) {
  Settings wishes{{"batch", sizes.batch}, {"framework", word}, {"seed", execution.seed}};
  if (execution.memory_limit > 0) wishes.set("memory", byte_words(execution.memory_limit));
  return wishes;
}

std::string loss_of(const Network& network) {
  const auto outputs = network.output_names();
  return std::ranges::find(outputs, "loss") == outputs.end() ? "" : "loss";
}

}  // namespace d5

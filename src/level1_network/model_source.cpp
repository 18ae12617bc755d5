// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/model_source.hpp"

#include <algorithm>
#include <filesystem>

#include "d5/onnx/file.hpp"
#include "d5/version.hpp"

namespace d5 {
namespace {

namespace fs = std::filesystem;

/// The path of the model's file; empty for a built-in network.
std::string file_of(const std::string& model) {
  if (is_test_folder(model)) return onnx::open_test_folder(model).model_path;
  std::error_code ignored;
  const bool is_file = fs::exists(model, ignored) || model.ends_with(".onnx") ||
                       model.find('/') != std::string::npos;
  return is_file ? model : "";
}

}  // namespace

bool is_test_folder(const std::string& model) {
  std::error_code ignored;
  return fs::is_directory(model, ignored);
}

Network open_model(const std::string& model, const ModelOptions& options) {
  const std::string file = file_of(model);
  return file.empty() ? models().at(model).make(options) : Network::load(file);
}

Artefact model_artefact(const std::string& model) {
  const std::string file = file_of(model);
  if (file.empty()) return {.name = "network " + model, .version = D5_VERSION};
  return {.name = fs::path(file).filename().string()};
}

std::string loss_of(const Network& network) {
  const auto outputs = network.output_names();
  return std::ranges::find(outputs, "loss") == outputs.end() ? "" : "loss";
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <span>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "evaluation/manifest/yaml_scalar.hpp"

namespace d5 {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t kMostModelBytes = std::size_t{2} << 30;  // protobuf's limit

/// A manifest name for "data/Mine (2).onnx": "Mine--2-".
std::string name_of_file(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c) && c != '.' && c != '_' && c != '-'; },
      '-');
  const bool begins = !name.empty() && std::isalnum(static_cast<unsigned char>(name.front()));
  return begins ? name : "model" + name;
}

/// A file address by RFC 8089, with special characters escaped.
std::string file_url(const std::filesystem::path& file) {
  std::string url = "file://";
  for (const unsigned char c : std::filesystem::absolute(file).lexically_normal().string()) {
    const bool plain =
        std::isalnum(c) || std::string_view("/._-").find(char(c)) != std::string::npos;
    url += plain ? std::string(1, char(c)) : fmt::format("%{:02X}", c);
  }
  return url;
}

/// Sizes after the batch; 0: any.
Sizes sizes_of_one(const onnx::Type& type) {
  Sizes sizes;
  for (std::size_t i = 1; i < type.dims.size(); ++i) {
    const auto* size = std::get_if<std::int64_t>(&type.dims[i]);
    sizes.push_back(size ? *size : 0);
  }
  return sizes;
}

/// Whether the sizes are channels, height and width.
bool is_image(const onnx::Type& type) {
  const Sizes sizes = sizes_of_one(type);
  return type.dtype == DType::float32 && sizes.size() == 3 && (sizes[0] == 1 || sizes[0] == 3);
}

std::string steps_of_image(const Sizes& sizes) {
  std::string steps = "  steps:  # a guess: which steps was it trained with?\n  - decode\n";
  const std::int64_t height = sizes[1], width = sizes[2];
  if (height > 0 && height == width) {
    steps += fmt::format("  - {{name: resize, size: {0}}}\n  - {{name: centre_crop, size: {0}}}\n",
                         height);
  } else if (height > 0 && width > 0) {
    steps += fmt::format("  - {{name: resize, height: {}, width: {}}}\n", height, width);
  }
  return steps + "  - {name: normalise, values: bytes, mean: 0, deviation: 255}\n";
}

std::string input_text(const onnx::ValueInfo& input) {
  if (input.type.kind != ValueKind::tensor) {
    throw Unsupported(fmt::format("input '{}' is {}; an evaluation feeds tensors",
                                  printable(input.name), to_string(input.type)));
  }
  const Sizes sizes = sizes_of_one(input.type);
  const bool image = is_image(input.type);
  return fmt::format("- name: {}\n  field: {}\n  modality: {}\n  type: {}\n  shape: [{}]\n{}",
                     detail::yaml_scalar(input.name),
                     image ? "image" : detail::yaml_scalar(input.name), image ? "image" : "tensor",
                     name_of(input.type.dtype), fmt::join(sizes, ", "),
                     image ? steps_of_image(sizes) : "");
}

/// The number of classes that it scores; 0: none.
std::int64_t classes_of(const onnx::Type& type) {
  const Sizes sizes = sizes_of_one(type);
  return type.kind == ValueKind::tensor && type.dtype == DType::float32 && sizes.size() == 1
             ? sizes[0]
             : 0;
}

std::string output_text(const onnx::ValueInfo& output) {
  const bool scores = classes_of(output.type) > 1;
  return fmt::format("- {{name: {}, modality: {}, type: {}}}\n", detail::yaml_scalar(output.name),
                     scores ? "scores" : "tensor", name_of(output.type.dtype));
}

}  // namespace

std::string described_model(const std::string& file, const std::string& name) {
  const std::string bytes = read_file(file, kMostModelBytes);
  const Network network = Network::parse(std::as_bytes(std::span(bytes)), file);
  std::string inputs, outputs;
  for (const auto& input : network.graph().inputs) inputs += input_text(input);
  for (const auto& output : network.graph().outputs) outputs += output_text(output);
  if (inputs.empty()) throw Unsupported(fmt::format("'{}' has no inputs", printable(file)));
  const auto& first = network.graph().outputs.front();
  const std::int64_t classes = classes_of(first.type);
  const std::string answer = classes > 1 ? fmt::format("answer:\n- {{name: top_k, k: {}}}\n",
                                                       std::min<std::int64_t>(classes, 5))
                                         : std::string();
  const std::filesystem::path path(file);
  return fmt::format(
      "kind: model\nname: {}\nversion: 1.0.0-dev\ntask: {}\nlicence: LicenseRef-unknown\nassets:\n"
      "- name: {}\n  urls: [{}]\n  bytes: {}\n  sha256: {}\ninputs:\n{}outputs:\n{}{}",
      name.empty() ? name_of_file(path) : name, classes > 1 ? "classification" : "unknown",
      name_of_file(path) + path.extension().string(), detail::yaml_scalar(file_url(path)),
      bytes.size(), detail::sha256(bytes), inputs, outputs, answer);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/manifest/described_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/files/sha256.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "evaluation/manifest/manifest_name.hpp"
#include "evaluation/manifest/yaml_scalar.hpp"

namespace d5 {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::size_t kMostModelBytes = std::size_t{2} << 30;  // protobuf's limit

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

/// Refuses what no evaluation can feed or read.
class BatchRule {
 public:
  explicit BatchRule(const onnx::Graph& graph) {
    for (const auto& input : graph.inputs) {
      const auto* name =
          input.type.dims.empty() ? nullptr : std::get_if<std::string>(&input.type.dims.front());
      if (name && batch_.empty()) batch_ = *name;
    }
  }

  /// Throws: Unsupported.
  void expect_input(const onnx::ValueInfo& input) const {
    const auto& [dims, what] = seen(input, "input");
    if (dims.empty()) return;  // one number for a whole batch
    const auto* size = std::get_if<std::int64_t>(&dims.front());
    if (size && *size != 1) {
      throw Unsupported(fmt::format(
          "{}; an evaluation puts the samples of a batch into its first dimension, which must be "
          "open, or 1: export it so",
          what));
    }
    const auto* name = std::get_if<std::string>(&dims.front());
    if (name && *name == batch_) return;
    if (batch_.empty() || std::find(dims.begin() + 1, dims.end(), onnx::Dim(batch_)) == dims.end())
      return;
    throw Unsupported(fmt::format(
        "{}, whose batch '{}' is not its first dimension; an evaluation puts samples there", what,
        printable(batch_)));
  }
  /// Throws: Unsupported.
  void expect_output(const onnx::ValueInfo& output) const {
    const bool is_open = output.type.kind == ValueKind::tensor && !output.type.has_shape;
    if (is_open || output.type.kind == ValueKind::none) return;  // running tells
    const auto& [dims, what] = seen(output, "output");
    const auto* size = dims.empty() ? nullptr : std::get_if<std::int64_t>(&dims.front());
    if (!dims.empty() && (!size || *size == 1)) return;
    throw Unsupported(fmt::format(
        "{}; an evaluation expects a row for each sample of a batch: export it with the samples as "
        "its first dimension, or without this output",
        what));
  }

 private:
  struct Seen {
    const std::vector<onnx::Dim>& dims;
    std::string what;
  };
  [[nodiscard]] static Seen seen(const onnx::ValueInfo& value, const char* role) {
    const std::string what =
        fmt::format("{} '{}' is {}", role, printable(value.name), to_string(value.type));
    if (value.type.kind != ValueKind::tensor) {
      throw Unsupported(what + "; an evaluation feeds and reads tensors");
    }
    if (!value.type.has_shape) {
      throw Unsupported(what + ", without a shape; export it with the shapes of its inputs");
    }
    return {value.type.dims, what};
  }

  std::string batch_;  ///< name of the batch dimension; empty: it has none
};

/// Height, width and channels of an input that looks like an image.
struct ImageSizes {
  std::int64_t height = 0, width = 0, channels = 0;
  bool channels_last = false;
};

/// Empty for another input. Bytes have their channels last, as decoding gives them.
std::optional<ImageSizes> image_of(const onnx::Type& type) {
  const Sizes sizes = sizes_of_one(type);
  const auto are_channels = [](std::int64_t size) { return size == 1 || size == 3; };
  if (sizes.size() != 3) return std::nullopt;
  const bool real = type.dtype == DType::float32 || type.dtype == DType::float16;
  if (real && are_channels(sizes[0])) return ImageSizes{sizes[1], sizes[2], sizes[0], false};
  if ((real || type.dtype == DType::uint8) && are_channels(sizes[2])) {
    return ImageSizes{sizes[0], sizes[1], sizes[2], true};
  }
  return std::nullopt;
}

std::string steps_of_image(const ImageSizes& image, DType dtype) {
  std::string steps = "  steps:  # a guess: which steps was it trained with?\n  - decode\n";
  const auto [height, width, channels, channels_last] = image;
  if (height > 0 && height == width) {
    steps += fmt::format("  - {{name: resize, size: {0}}}\n  - {{name: centre_crop, size: {0}}}\n",
                         height);
  } else if (height > 0 && width > 0) {
    steps += fmt::format("  - {{name: resize, height: {}, width: {}}}\n", height, width);
  }
  if (channels == 1) steps += "  - greyscale\n";
  if (!channels_last) steps += "  - {name: normalise, values: bytes, mean: 0, deviation: 255}\n";
  const bool differs = channels_last ? dtype != DType::uint8 : dtype != DType::float32;
  return steps + (differs ? fmt::format("  - {{name: cast, to: {}}}\n", name_of(dtype)) : "");
}

std::string input_text(const onnx::ValueInfo& input) {
  const auto image = image_of(input.type);
  return fmt::format(
      "- name: {}\n  field: {}\n  modality: {}\n  type: {}\n  shape: [{}]{}\n{}",
      detail::yaml_scalar(input.name), image ? "image" : detail::yaml_scalar(input.name),
      image ? "image" : "tensor", name_of(input.type.dtype),
      fmt::join(sizes_of_one(input.type), ", "),
      input.type.dims.empty() ? "  # one number, which all samples of a batch share" : "",
      image ? steps_of_image(*image, input.type.dtype) : "");
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
  const BatchRule rule(network.graph());
  std::string inputs, outputs;
  for (const auto& input : network.graph().inputs) {
    rule.expect_input(input);
    inputs += input_text(input);
  }
  for (const auto& output : network.graph().outputs) {
    rule.expect_output(output);
    outputs += output_text(output);
  }
  if (inputs.empty()) throw Unsupported(fmt::format("'{}' has no inputs", printable(file)));
  if (std::ranges::all_of(network.graph().inputs,
                          [](const auto& input) { return input.type.dims.empty(); })) {
    throw Unsupported(fmt::format("'{}' has no input with a dimension for the samples of a batch",
                                  printable(file)));
  }
  const auto& first = network.graph().outputs.front();
  const std::int64_t classes = classes_of(first.type);
  const std::string answer = classes > 1 ? fmt::format("answer:\n- {{name: top_k, k: {}}}\n",
                                                       std::min<std::int64_t>(classes, 5))
                                         : std::string();
  const std::filesystem::path path(file);
  return fmt::format(
      "kind: model\nname: {}\nversion: 1.0.0-dev\ntask: {}\nlicence: LicenseRef-unknown\nassets:\n"
      "- name: {}\n  urls: [{}]\n  bytes: {}\n  sha256: {}\ninputs:\n{}outputs:\n{}{}",
      name.empty() ? detail::manifest_name(path.stem().string(), "model") : name,
      classes > 1 ? "classification" : "unknown",
      detail::manifest_name(path.filename().string(), "model"), detail::yaml_scalar(file_url(path)),
      bytes.size(), detail::sha256(bytes), inputs, outputs, answer);
}

}  // namespace d5

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
#include "d5/evaluation/pipeline/model_call.hpp"
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

/// Finds the dimension of the samples in inputs and outputs.
class BatchRule {
 public:
  explicit BatchRule(const onnx::Graph& graph) {
    for (const auto& input : graph.inputs) {
      const auto* name =
          input.type.dims.empty() ? nullptr : std::get_if<std::string>(&input.type.dims.front());
      if (name && name_.empty()) name_ = *name;
    }
  }

  /// The dimension with the name of the first input's; else the first, if it is open or 1; else
  /// `ModelCall::kNoBatch`: each call has one sample.
  [[nodiscard]] std::int64_t axis_of(const onnx::Type& type) const {
    if (!type.has_shape) return 0;
    const auto named = std::ranges::find(type.dims, onnx::Dim(name_));
    if (!name_.empty() && named != type.dims.end()) return named - type.dims.begin();
    if (type.dims.empty()) return ModelCall::kNoBatch;
    const auto* size = std::get_if<std::int64_t>(&type.dims.front());
    return !size || *size == 1 ? 0 : ModelCall::kNoBatch;
  }

 private:
  std::string name_;  ///< name of the batch dimension; empty: it has none
};

/// A tensor of one sample.
struct OneSample {
  std::int64_t axis = 0;  ///< dimension of the batch
  Sizes sizes = {};       ///< all others; 0: any
};

OneSample one_sample(const onnx::Type& type, const BatchRule& rule) {
  OneSample one{.axis = rule.axis_of(type)};
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    if (std::int64_t(i) == one.axis) continue;
    const auto* size = std::get_if<std::int64_t>(&type.dims[i]);
    one.sizes.push_back(size ? *size : 0);
  }
  return one;
}

/// Refuses what no evaluation can feed. Throws: Unsupported.
void expect_input(const onnx::ValueInfo& input) {
  const std::string what =
      fmt::format("input '{}' is {}", printable(input.name), to_string(input.type));
  if (input.type.kind != ValueKind::tensor) {
    throw Unsupported(what + "; an evaluation feeds tensors");
  }
  if (!input.type.has_shape) {
    throw Unsupported(what + ", without a shape; export it with the shapes of its inputs");
  }
}

/// Refuses what no evaluation can read. Throws: Unsupported.
void expect_output(const onnx::ValueInfo& output) {
  const ValueKind kind = output.type.kind;
  if (kind == ValueKind::tensor || kind == ValueKind::none) return;  // running tells the shape
  throw Unsupported(fmt::format("output '{}' is {}; an evaluation reads tensors",
                                printable(output.name), to_string(output.type)));
}

/// "batch_axis: 1", if it is not the first.
std::string axis_text(std::int64_t axis, const char* before, const char* after) {
  return axis == 0 ? "" : fmt::format("{}batch_axis: {}{}", before, axis, after);
}

/// Height, width and channels of an input that looks like an image.
struct ImageSizes {
  std::int64_t height = 0, width = 0, channels = 0;
  bool channels_last = false;
};

/// Empty for another input. Bytes have their channels last, as decoding gives them.
std::optional<ImageSizes> image_of(const onnx::Type& type, const Sizes& sizes) {
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

std::string input_text(const onnx::ValueInfo& input, const BatchRule& rule) {
  const auto [axis, sizes] = one_sample(input.type, rule);
  const auto image = image_of(input.type, sizes);
  return fmt::format("- name: {}\n  field: {}\n  modality: {}\n  type: {}\n  shape: [{}]\n{}{}",
                     detail::yaml_scalar(input.name),
                     image ? "image" : detail::yaml_scalar(input.name), image ? "image" : "tensor",
                     name_of(input.type.dtype), fmt::join(sizes, ", "), axis_text(axis, "  ", "\n"),
                     image ? steps_of_image(*image, input.type.dtype) : "");
}

/// The number of classes that it scores; 0: none.
std::int64_t classes_of(const onnx::Type& type, const BatchRule& rule) {
  const auto [axis, sizes] = one_sample(type, rule);
  const bool scores = type.kind == ValueKind::tensor && type.dtype == DType::float32;
  return scores && axis != ModelCall::kNoBatch && sizes.size() == 1 ? sizes[0] : 0;
}

std::string output_text(const onnx::ValueInfo& output, const BatchRule& rule) {
  const bool scores = classes_of(output.type, rule) > 1;
  return fmt::format("- {{name: {}, modality: {}, type: {}{}}}\n", detail::yaml_scalar(output.name),
                     scores ? "scores" : "tensor", name_of(output.type.dtype),
                     axis_text(one_sample(output.type, rule).axis, ", ", ""));
}

/// Throws: Unsupported, with the way out, for a network whose tensors are in other files.
Network network_in(const std::string& bytes, const std::string& file) {
  try {
    return Network::parse(std::as_bytes(std::span(bytes)), file);
  } catch (const Error&) {
    (void)Network::load(file);  // throws, unless what it lacks is beside it
  }
  throw Unsupported(fmt::format(
      "'{0}' has tensors in other files, and the network of a manifest is one file; 'd5 net save "
      "{0} one.onnx' writes all into one, up to 2 GiB",
      printable(file)));
}

}  // namespace

std::string described_model(const std::string& file, const std::string& name) {
  const std::string bytes = read_file(file, kMostModelBytes);
  const Network network = network_in(bytes, file);
  const BatchRule rule(network.graph());
  std::string inputs, outputs;
  for (const auto& input : network.graph().inputs) {
    expect_input(input);
    inputs += input_text(input, rule);
  }
  for (const auto& output : network.graph().outputs) {
    expect_output(output);
    outputs += output_text(output, rule);
  }
  if (inputs.empty()) throw Unsupported(fmt::format("'{}' has no inputs", printable(file)));
  const auto& first = network.graph().outputs.front();
  const std::int64_t classes = classes_of(first.type, rule);
  const std::string of =
      network.graph().outputs.size() > 1 ? ", of: " + detail::yaml_scalar(first.name) : "";
  const std::string answer = classes > 1 ? fmt::format("answer:\n- {{name: top_k, k: {}{}}}\n",
                                                       std::min<std::int64_t>(classes, 5), of)
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

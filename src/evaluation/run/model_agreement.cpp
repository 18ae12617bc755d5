// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/evaluation/run/model_assets.hpp"

namespace d5 {
namespace {

const onnx::Type& type_called(const std::vector<onnx::ValueInfo>& values, const std::string& name,
                              const std::string& who) {
  std::vector<std::string> known;
  for (const auto& value : values) {
    if (value.name == name) return value.type;
    known.push_back(value.name);
  }
  throw_unknown_name(who, name, known);
}

void expect_type(const std::string& who, const std::string& told, const onnx::Type& type) {
  if (type.kind == ValueKind::tensor && type.dtype == dtype_from_name(told)) return;
  throw ValueError(
      fmt::format("{} is {} in the manifest, but {} in the network", who, told, to_string(type)));
}

/// Compares sizes after the batch; 0 in the manifest, and an open size in the network, match any. A
/// number of each sample may be one number of the whole batch in the network (`ScalarInputs`).
bool shapes_agree(const std::vector<std::int64_t>& told, const onnx::Type& type) {
  if (!type.has_shape) return true;
  if (type.dims.empty()) return told.empty();
  if (type.dims.size() != told.size() + 1) return false;
  for (std::size_t i = 0; i < told.size(); ++i) {
    const auto* size = std::get_if<std::int64_t>(&type.dims[i + 1]);
    if (size && told[i] != 0 && *size != told[i]) return false;
  }
  return true;
}

}  // namespace

void expect_agreement(const ModelManifest& manifest, const Network& network) {
  const std::string who = manifest.reference();
  for (const ModelInput& input : manifest.inputs) {
    const onnx::Type& type =
        type_called(network.graph().inputs, input.name, "network input of " + who);
    const std::string name = fmt::format("{}: input '{}'", who, printable(input.name));
    expect_type(name, input.type, type);
    if (shapes_agree(input.shape, type)) continue;
    throw ValueError(fmt::format("{} is of shape {} in the manifest, but {} in the network", name,
                                 to_string(Shape(input.shape)), to_string(type)));
  }
  for (const std::string& name : network.input_names()) {
    const bool told =
        std::ranges::find(manifest.inputs, name, &ModelInput::name) != manifest.inputs.end();
    if (!told) {
      throw ValueError(
          fmt::format("{}: the network has an input '{}', which the manifest does not describe",
                      who, printable(name)));
    }
  }
  for (const ModelOutput& output : manifest.outputs) {
    const onnx::Type& type =
        type_called(network.graph().outputs, output.name, "network output of " + who);
    expect_type(fmt::format("{}: output '{}'", who, printable(output.name)), output.type, type);
  }
}

}  // namespace d5

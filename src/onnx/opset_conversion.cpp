// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/opset_conversion.hpp"

#include <fmt/format.h>
#include <onnx/version_converter/convert.h>

#include <exception>
#include <utility>

#include "d5/core/error.hpp"
#include "d5/onnx/file.hpp"
#include "onnx/source.hpp"
#include "onnx/stages.hpp"

namespace d5::onnx {
namespace {

[[noreturn]] void refuse(const Model& model, int from, int to, const std::string& reason) {
  throw Unsupported(fmt::format("model '{}' cannot be converted from opset {} to {}: {}",
                                printable(model.graph.name), from, to, reason));
}

::onnx::ModelProto converted(const Model& model, int from, int to) {
  ::onnx::ModelProto proto;
  const std::string bytes = serialize(model);
  detail::parse_message(std::as_bytes(std::span(bytes)), {printable(model.graph.name)}, proto);
  try {
    return ::onnx::version_conversion::ConvertVersion(proto, to);
  } catch (const std::exception& error) {
    refuse(model, from, to, detail::one_line(error.what()));
  }
}

}  // namespace

Model in_opset(const Model& model, int version) {
  const auto import = model.opset_imports.find("");
  if (import == model.opset_imports.end() || import->second == version) return model;
  if (version < import->second || version > kNewestOpset) {
    throw ValueError(fmt::format("model '{}' is of opset {}; expected a newer one up to {}, not {}",
                                 printable(model.graph.name), import->second, kNewestOpset,
                                 version));
  }
  const std::string bytes = converted(model, import->second, version).SerializeAsString();
  Model result;
  try {
    result = parse(std::as_bytes(std::span(bytes)), model.graph.name);
  } catch (const FormatError& error) {
    refuse(model, import->second, version,
           fmt::format("what ONNX's converter made of it is no model: {}", error.what()));
  }
  for (const auto& [name, value] : model.graph.initializers) {
    const auto place = result.graph.initializers.find(name);
    if (place != result.graph.initializers.end() && place->second.desc() == value.desc()) {
      place->second = value;
    }
  }
  result.ir_version = std::max(result.ir_version, model.ir_version);
  return result;
}

}  // namespace d5::onnx

// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx-data.pb.h>

#include <filesystem>

#include "d5/core/files/atomic_file.hpp"
#include "d5/onnx/file.hpp"
#include "onnx/stages.hpp"
#include "onnx/tensor_proto.hpp"
#include "onnx/value_proto.hpp"

namespace d5::onnx {
namespace {

/// ONNX's releases before 1.13 wrote bfloat16 as uint16, because NumPy lacks the type.
Tensor mend_bfloat16(Tensor tensor, const Type& type) {
  if (type.dtype != DType::bfloat16 || tensor.dtype() != DType::uint16) return tensor;
  return Tensor::borrow({DType::bfloat16, tensor.shape()}, tensor.raw(), tensor.owner());
}

Value read_value(std::span<const std::byte> bytes, const Type& type, detail::Source& source) {
  const auto read = [&](auto proto, auto&& convert) {
    detail::parse_message(bytes, source, proto);
    return Value(convert(proto));
  };
  switch (type.kind) {
    case ValueKind::sequence:
      return read(::onnx::SequenceProto(),
                  [&](const auto& proto) { return detail::read_sequence(proto, &type, source); });
    case ValueKind::optional:
      return read(::onnx::OptionalProto(),
                  [&](const auto& proto) { return detail::read_optional(proto, &type, source); });
    case ValueKind::map:
      return read(::onnx::MapProto(),
                  [&](const auto& proto) { return detail::read_map(proto, &type, source); });
    case ValueKind::none:
    case ValueKind::tensor:
      return read(::onnx::TensorProto(), [&](const auto& proto) {
        return mend_bfloat16(detail::read_tensor(proto, source), type);
      });
  }
  return {};
}

}  // namespace

Value load_value(const std::string& path, const Type& type) {
  const std::string bytes = read_file(path, LoadOptions().most_file_bytes);
  const auto folder = std::filesystem::path(path).parent_path();
  detail::Source source{path, folder.empty() ? "." : folder.string()};
  return read_value(std::as_bytes(std::span(bytes)), type, source);
}

Value parse_value(std::span<const std::byte> bytes, const Type& type, const std::string& file) {
  detail::Source source{file, std::nullopt};
  return read_value(bytes, type, source);
}

std::string serialize_value(const Value& value, const std::string& name) {
  const auto write = [&](auto proto, auto&& fill) {
    fill(proto);
    return proto.SerializeAsString();
  };
  switch (value.kind()) {
    case ValueKind::none:
      return {};
    case ValueKind::tensor:
      return write(::onnx::TensorProto(),
                   [&](auto& proto) { detail::write_tensor(value.tensor(), name, proto); });
    case ValueKind::sequence:
      return write(::onnx::SequenceProto(),
                   [&](auto& proto) { detail::write_sequence(value.sequence(), name, proto); });
    case ValueKind::optional:
      return write(::onnx::OptionalProto(),
                   [&](auto& proto) { detail::write_optional(value.optional(), name, proto); });
    case ValueKind::map:
      return write(::onnx::MapProto(),
                   [&](auto& proto) { detail::write_map(value.map(), name, proto); });
  }
  return {};
}

}  // namespace d5::onnx

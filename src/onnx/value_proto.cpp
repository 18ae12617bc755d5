// SPDX-License-Identifier: Apache-2.0
#include "onnx/value_proto.hpp"

#include <fmt/format.h>

#include <memory>

#include "d5/core/errors/error.hpp"
#include "onnx/tensor_proto.hpp"

namespace d5::onnx::detail {
namespace {

using ::onnx::OptionalProto;
using ::onnx::SequenceProto;

/// Converts a declared type to a description; open sizes are unknown.
ValueDesc desc_of(const Type& type) {
  ValueDesc result;
  result.kind = type.kind;
  result.tensor.dtype = type.dtype;
  for (const Dim& dim : type.dims) {
    const auto* number = std::get_if<std::int64_t>(&dim);
    result.tensor.shape.push_back(number ? *number : kUnknownDim);
  }
  if (type.element) result.element = std::make_shared<const ValueDesc>(desc_of(*type.element));
  return result;
}

const Type* element_of(const Type* type) { return type ? type->element.get() : nullptr; }

ValueDesc element_desc(const Type* type) {
  const Type* element = element_of(type);
  return element ? desc_of(*element) : ValueDesc();
}

Tensor read_sparse(const ::onnx::SparseTensorProto& proto, Source& source) {
  return to_dense(read_sparse_tensor(proto, source), proto.values().name(), source);
}

}  // namespace

Value read_sequence(const SequenceProto& proto, const Type* type, Source& source) {
  Sequence result;
  const Type* element = element_of(type);
  const auto append = [&](const auto& items, auto&& read) {
    for (const auto& item : items) result.values.push_back(read(item));
  };
  switch (proto.elem_type()) {
    case SequenceProto::TENSOR:
      append(proto.tensor_values(), [&](const auto& item) { return read_tensor(item, source); });
      break;
    case SequenceProto::SPARSE_TENSOR:
      append(proto.sparse_tensor_values(),
             [&](const auto& item) { return read_sparse(item, source); });
      break;
    case SequenceProto::SEQUENCE:
      append(proto.sequence_values(),
             [&](const auto& item) { return read_sequence(item, element, source); });
      break;
    case SequenceProto::MAP:
      append(proto.map_values(), [&](const auto& item) { return read_map(item, element, source); });
      break;
    case SequenceProto::OPTIONAL:
      append(proto.optional_values(),
             [&](const auto& item) { return read_optional(item, element, source); });
      break;
    default:
      // An empty sequence may omit its type, which the model declares.
      if (proto.elem_type() != SequenceProto::UNDEFINED || proto.tensor_values_size() > 0) {
        source.fail(fmt::format("sequence '{}': elements of kind {}, expected 1 to 5",
                                printable(proto.name()), int(proto.elem_type())));
      }
  }
  result.element = element || result.values.empty() ? element_desc(type) : result.values[0].desc();
  return result;
}

Value read_optional(const OptionalProto& proto, const Type* type, Source& source) {
  const Type* element = element_of(type);
  Optional result;
  const auto hold = [&](Value value) {
    result.value = std::make_shared<const Value>(std::move(value));
  };
  if (proto.has_tensor_value()) {
    hold(read_tensor(proto.tensor_value(), source));
  } else if (proto.has_sparse_tensor_value()) {
    hold(read_sparse(proto.sparse_tensor_value(), source));
  } else if (proto.has_sequence_value()) {
    hold(read_sequence(proto.sequence_value(), element, source));
  } else if (proto.has_map_value()) {
    hold(read_map(proto.map_value(), element, source));
  } else if (proto.has_optional_value()) {
    hold(read_optional(proto.optional_value(), element, source));
  }
  result.element = element || !result.value ? element_desc(type) : result.value->desc();
  return result;
}

Value read_map(const ::onnx::MapProto& proto, const Type* type, Source& source) {
  Map result;
  if (proto.key_type() == ::onnx::TensorProto::STRING) {
    result.keys = std::vector<std::string>(proto.string_keys().begin(), proto.string_keys().end());
  } else {
    result.keys = std::vector<std::int64_t>(proto.keys().begin(), proto.keys().end());
  }
  // A map's values are a sequence of the map's declared value type.
  Type values;
  values.kind = ValueKind::sequence;
  if (type) values.element = type->element;
  Value sequence = read_sequence(proto.values(), type ? &values : nullptr, source);
  const std::size_t keys = std::visit([](const auto& list) { return list.size(); }, result.keys);
  if (sequence.sequence().values.size() != keys) {
    source.fail(fmt::format("map '{}' has {} keys, but {} values", printable(proto.name()), keys,
                            sequence.sequence().values.size()));
  }
  result.values = std::make_shared<const Value>(std::move(sequence));
  return result;
}

void write_sequence(const Sequence& sequence, std::string_view name, SequenceProto& proto) {
  proto.set_name(std::string(name));
  const ValueKind kind =
      sequence.values.empty() ? sequence.element.kind : sequence.values.front().kind();
  switch (kind) {
    case ValueKind::none:
      return proto.set_elem_type(SequenceProto::UNDEFINED);
    case ValueKind::tensor:
      proto.set_elem_type(SequenceProto::TENSOR);
      for (const Value& value : sequence.values) {
        write_tensor(value.tensor(), "", *proto.add_tensor_values());
      }
      return;
    case ValueKind::sequence:
      proto.set_elem_type(SequenceProto::SEQUENCE);
      for (const Value& value : sequence.values) {
        write_sequence(value.sequence(), "", *proto.add_sequence_values());
      }
      return;
    case ValueKind::optional:
      proto.set_elem_type(SequenceProto::OPTIONAL);
      for (const Value& value : sequence.values) {
        write_optional(value.optional(), "", *proto.add_optional_values());
      }
      return;
    case ValueKind::map:
      proto.set_elem_type(SequenceProto::MAP);
      for (const Value& value : sequence.values) {
        write_map(value.map(), "", *proto.add_map_values());
      }
  }
}

void write_optional(const Optional& optional, std::string_view name, OptionalProto& proto) {
  proto.set_name(std::string(name));
  const ValueKind kind = optional.value ? optional.value->kind() : optional.element.kind;
  switch (kind) {
    case ValueKind::none:
      return proto.set_elem_type(OptionalProto::UNDEFINED);
    case ValueKind::tensor:
      proto.set_elem_type(OptionalProto::TENSOR);
      if (optional.value) write_tensor(optional.value->tensor(), "", *proto.mutable_tensor_value());
      return;
    case ValueKind::sequence:
      proto.set_elem_type(OptionalProto::SEQUENCE);
      if (optional.value) {
        write_sequence(optional.value->sequence(), "", *proto.mutable_sequence_value());
      }
      return;
    case ValueKind::optional:
      proto.set_elem_type(OptionalProto::OPTIONAL);
      if (optional.value) {
        write_optional(optional.value->optional(), "", *proto.mutable_optional_value());
      }
      return;
    case ValueKind::map:
      proto.set_elem_type(OptionalProto::MAP);
      if (optional.value) write_map(optional.value->map(), "", *proto.mutable_map_value());
  }
}

void write_map(const Map& map, std::string_view name, ::onnx::MapProto& proto) {
  proto.set_name(std::string(name));
  if (const auto* words = std::get_if<std::vector<std::string>>(&map.keys)) {
    proto.set_key_type(::onnx::TensorProto::STRING);
    for (const std::string& word : *words) proto.add_string_keys(word);
  } else {
    proto.set_key_type(::onnx::TensorProto::INT64);
    for (const std::int64_t key : std::get<0>(map.keys)) proto.add_keys(key);
  }
  if (map.values) write_sequence(map.values->sequence(), "", *proto.mutable_values());
}

}  // namespace d5::onnx::detail

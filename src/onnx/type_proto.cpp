// SPDX-License-Identifier: Apache-2.0
#include "onnx/type_proto.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "onnx/tensor_proto.hpp"

namespace d5::onnx::detail {
namespace {

/// Inner types may omit the element type: 0.
DType read_element_type(std::int32_t number, const Source& source, std::string_view who) {
  return number == 0 ? DType::undefined : read_dtype(number, source, who);
}

void read_shape(const ::onnx::TensorShapeProto& shape, Type& type) {
  type.has_shape = true;
  for (const auto& dim : shape.dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0) {
      type.dims.emplace_back(dim.dim_value());
    } else if (dim.has_dim_param() && !dim.dim_param().empty()) {
      type.dims.emplace_back(dim.dim_param());
    } else {
      type.dims.emplace_back();  // exporters write -1 and other negative numbers for "any size"
    }
  }
}

template <class TensorType>
Type read_tensor_type(const TensorType& proto, const Source& source, std::string_view who) {
  Type result;
  result.kind = ValueKind::tensor;
  result.dtype = read_element_type(proto.elem_type(), source, who);
  if (proto.has_shape()) read_shape(proto.shape(), result);
  return result;
}

template <class TensorType>
void write_tensor_type(const Type& type, TensorType& proto) {
  proto.set_elem_type(std::int32_t(type.dtype));
  const bool same_rank =
      proto.has_shape() && std::size_t(proto.shape().dim_size()) == type.dims.size();
  if (!same_rank) proto.clear_shape();
  if (!type.has_shape) return;
  auto& shape = *proto.mutable_shape();
  while (std::size_t(shape.dim_size()) < type.dims.size()) shape.add_dim();
  for (std::size_t i = 0; i < type.dims.size(); ++i) {
    const Dim& dim = type.dims[i];
    auto& to = *shape.mutable_dim(int(i));
    if (const auto* number = std::get_if<std::int64_t>(&dim)) to.set_dim_value(*number);
    if (const auto* name = std::get_if<std::string>(&dim)) to.set_dim_param(*name);
  }
}

::onnx::TypeProto::ValueCase case_of(const Type& type) {
  switch (type.kind) {
    case ValueKind::none:
      return ::onnx::TypeProto::VALUE_NOT_SET;
    case ValueKind::tensor:
      return type.sparse ? ::onnx::TypeProto::kSparseTensorType : ::onnx::TypeProto::kTensorType;
    case ValueKind::sequence:
      return ::onnx::TypeProto::kSequenceType;
    case ValueKind::optional:
      return ::onnx::TypeProto::kOptionalType;
    case ValueKind::map:
      return ::onnx::TypeProto::kMapType;
  }
  return ::onnx::TypeProto::VALUE_NOT_SET;
}

}  // namespace

Type read_type(const ::onnx::TypeProto& proto, const Source& source, std::string_view who) {
  const auto holder = [&](ValueKind kind, const ::onnx::TypeProto& element) {
    Type result;
    result.kind = kind;
    result.element = std::make_shared<const Type>(read_type(element, source, who));
    return result;
  };
  switch (proto.value_case()) {
    case ::onnx::TypeProto::kTensorType:
      return read_tensor_type(proto.tensor_type(), source, who);
    case ::onnx::TypeProto::kSparseTensorType: {
      Type result = read_tensor_type(proto.sparse_tensor_type(), source, who);
      result.sparse = true;
      return result;
    }
    case ::onnx::TypeProto::kSequenceType:
      return holder(ValueKind::sequence, proto.sequence_type().elem_type());
    case ::onnx::TypeProto::kOptionalType:
      return holder(ValueKind::optional, proto.optional_type().elem_type());
    case ::onnx::TypeProto::kMapType: {
      Type result = holder(ValueKind::map, proto.map_type().value_type());
      result.dtype = read_element_type(proto.map_type().key_type(), source, who);
      return result;
    }
    case ::onnx::TypeProto::kOpaqueType:
      source.refuse(fmt::format("{}: opaque types are not supported", who));
    case ::onnx::TypeProto::VALUE_NOT_SET:
      return {};
  }
  return {};
}

void write_type(const Type& type, ::onnx::TypeProto& proto) {
  if (proto.value_case() != case_of(type)) proto.clear_value();
  const auto write_element = [&](::onnx::TypeProto& element) {
    if (type.element) write_type(*type.element, element);
  };
  switch (type.kind) {
    case ValueKind::none:
      return;
    case ValueKind::tensor:
      if (type.sparse) return write_tensor_type(type, *proto.mutable_sparse_tensor_type());
      return write_tensor_type(type, *proto.mutable_tensor_type());
    case ValueKind::sequence:
      return write_element(*proto.mutable_sequence_type()->mutable_elem_type());
    case ValueKind::optional:
      return write_element(*proto.mutable_optional_type()->mutable_elem_type());
    case ValueKind::map:
      proto.mutable_map_type()->set_key_type(std::int32_t(type.dtype));
      return write_element(*proto.mutable_map_type()->mutable_value_type());
  }
}

}  // namespace d5::onnx::detail

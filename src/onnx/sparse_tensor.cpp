// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>

#include "d5/core/errors/error.hpp"
#include "onnx/tensor_proto.hpp"

namespace d5::onnx::detail {
namespace {

/// The index of the `i`-th value in the dense tensor; `indices` are linear, or one per dimension.
std::int64_t place(const SparseTensor& sparse, std::int64_t i, std::string_view name,
                   const Source& source) {
  const std::int64_t* indices = sparse.indices.data<std::int64_t>();
  const auto check = [&](std::int64_t index, std::int64_t end) {
    if (index < 0 || index >= end) {
      source.fail(fmt::format("sparse tensor '{}': index {} of value {} is outside [0, {})",
                              printable(name), index, i, end));
    }
    return index;
  };
  if (sparse.indices.shape().rank() == 1) return check(indices[i], sparse.shape.elements());
  const auto rank = std::int64_t(sparse.shape.rank());
  std::int64_t result = 0;
  for (std::int64_t d = 0; d < rank; ++d) {
    const std::int64_t size = sparse.shape[std::size_t(d)];
    result = result * size + check(indices[i * rank + d], size);
  }
  return result;
}

}  // namespace

SparseTensor read_sparse_tensor(const ::onnx::SparseTensorProto& proto, Source& source) {
  const std::string& name = proto.values().name();
  SparseTensor result{
      read_tensor(proto.values(), source), {}, Shape({proto.dims().begin(), proto.dims().end()})};
  const auto fail = [&](std::string_view what) {
    source.fail(fmt::format("sparse tensor '{}': {}", printable(name), what));
  };
  if (result.values.shape().rank() != 1) fail("its values are not a vector");
  const std::int64_t count = result.values.elements();
  if (!proto.has_indices() && count == 0) {
    result.indices = Tensor::empty(DType::int64, {0});
    return result;
  }
  result.indices = read_tensor(proto.indices(), source);
  if (result.indices.dtype() != DType::int64) fail("its indices are not int64");
  const Shape& shape = result.indices.shape();
  const auto rank = std::int64_t(result.shape.rank());
  if (shape != Shape{count} && shape != Shape{count, rank}) {
    fail(fmt::format("its indices are {}, expected {} or {}x{}", to_string(shape), count, count,
                     rank));
  }
  return result;
}

Tensor to_dense(const SparseTensor& sparse, std::string_view name, Source& source) {
  const TensorDesc desc{sparse.values.dtype(), sparse.shape};
  if (desc.dtype == DType::string) {
    source.refuse(
        fmt::format("sparse tensor '{}' holds strings, which have no zero", printable(name)));
  }
  try {
    source.take(desc.bytes(), name);
  } catch (const ShapeError& error) {
    source.fail(fmt::format("sparse tensor '{}': {}", printable(name), error.what()));
  }
  Tensor dense = Tensor::zeros(desc.dtype, desc.shape);
  const std::size_t size = size_of(desc.dtype);
  const auto* from = static_cast<const std::byte*>(sparse.values.raw());
  auto* to = static_cast<std::byte*>(dense.raw());
  for (std::int64_t i = 0; i < sparse.values.elements(); ++i) {
    std::memcpy(to + std::size_t(place(sparse, i, name, source)) * size,
                from + std::size_t(i) * size, size);
  }
  return dense;
}

void write_sparse_tensor(const SparseTensor& tensor, std::string_view name,
                         ::onnx::SparseTensorProto& proto) {
  write_tensor(tensor.values, name, *proto.mutable_values());
  write_tensor(tensor.indices, "", *proto.mutable_indices());
  for (const std::int64_t dim : tensor.shape) proto.add_dims(dim);
}

}  // namespace d5::onnx::detail

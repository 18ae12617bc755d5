// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

namespace d5::onnx::detail {

/// Converts ONNX's element type. Throws: FormatError, with `who` in the message, for an unknown
/// one.
[[nodiscard]] DType read_dtype(std::int32_t data_type, const Source& source, std::string_view who);

/// Reads a tensor from raw bytes, typed fields or external data. Throws: FormatError if dimensions
/// and data do not match; MemoryError above the budget.
[[nodiscard]] Tensor read_tensor(const ::onnx::TensorProto& proto, Source& source);
[[nodiscard]] SparseTensor read_sparse_tensor(const ::onnx::SparseTensorProto& proto,
                                              Source& source);
/// Converts to a dense tensor. Throws: MemoryError above the budget; Unsupported for strings.
[[nodiscard]] Tensor to_dense(const SparseTensor& sparse, std::string_view name, Source& source);

/// Writes only name, element type and dimensions.
void write_desc(const Tensor& tensor, std::string_view name, ::onnx::TensorProto& proto);
/// Writes raw data, sub-byte types packed; strings as strings.
void write_tensor(const Tensor& tensor, std::string_view name, ::onnx::TensorProto& proto);
void write_sparse_tensor(const SparseTensor& tensor, std::string_view name,
                         ::onnx::SparseTensorProto& proto);

}  // namespace d5::onnx::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

#include "d5/core/tensor/tensor.hpp"
#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

namespace d5::onnx::detail {

/// An element type of ONNX as ours. Throws: FormatError in the name of `who` if there is none.
[[nodiscard]] DType read_dtype(std::int32_t data_type, const Source& source, std::string_view who);

/// A tensor in any of the ways in which a file may hold it: raw bytes, typed fields, external data.
/// Throws: FormatError where dimensions and data do not fit; MemoryError above the budget.
[[nodiscard]] Tensor read_tensor(const ::onnx::TensorProto& proto, Source& source);
[[nodiscard]] SparseTensor read_sparse_tensor(const ::onnx::SparseTensorProto& proto,
                                              Source& source);
/// All elements, the zeros too. Throws: MemoryError above the budget; Unsupported for strings.
[[nodiscard]] Tensor to_dense(const SparseTensor& sparse, std::string_view name, Source& source);

/// Name, element type and dimensions alone.
void write_desc(const Tensor& tensor, std::string_view name, ::onnx::TensorProto& proto);
/// As raw data, sub-byte types packed; strings as strings.
void write_tensor(const Tensor& tensor, std::string_view name, ::onnx::TensorProto& proto);
void write_sparse_tensor(const SparseTensor& tensor, std::string_view name,
                         ::onnx::SparseTensorProto& proto);

}  // namespace d5::onnx::detail

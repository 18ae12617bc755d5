// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

namespace d5::onnx::detail {

/// A declared type. Protobuf's own limit on nesting bounds how deep it goes.
/// Throws: FormatError, Unsupported in the name of `who`.
[[nodiscard]] Type read_type(const ::onnx::TypeProto& proto, const Source& source,
                             std::string_view who);
/// `proto` may hold denotations: they stay where kind and rank are the same.
void write_type(const Type& type, ::onnx::TypeProto& proto);

}  // namespace d5::onnx::detail

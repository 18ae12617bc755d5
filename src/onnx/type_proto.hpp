// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <string_view>

#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

namespace d5::onnx::detail {

/// Reads a declared type. protobuf's limit on nesting bounds its depth. Throws: FormatError,
/// Unsupported, with `who` in the message.
[[nodiscard]] Type read_type(const ::onnx::TypeProto& proto, const Source& source,
                             std::string_view who);
/// `proto` may have denotations, which stay if kind and rank are unchanged.
void write_type(const Type& type, ::onnx::TypeProto& proto);

}  // namespace d5::onnx::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

#include <string_view>

#include "d5/core/tensor/value.hpp"
#include "d5/onnx/model.hpp"
#include "onnx/source.hpp"

namespace d5::onnx::detail {

/// `type` is used if the message lacks it, as for an empty sequence. It may be null.
[[nodiscard]] Value read_sequence(const ::onnx::SequenceProto& proto, const Type* type,
                                  Source& source);
[[nodiscard]] Value read_optional(const ::onnx::OptionalProto& proto, const Type* type,
                                  Source& source);
[[nodiscard]] Value read_map(const ::onnx::MapProto& proto, const Type* type, Source& source);

void write_sequence(const Sequence& sequence, std::string_view name, ::onnx::SequenceProto& proto);
void write_optional(const Optional& optional, std::string_view name, ::onnx::OptionalProto& proto);
void write_map(const Map& map, std::string_view name, ::onnx::MapProto& proto);

}  // namespace d5::onnx::detail

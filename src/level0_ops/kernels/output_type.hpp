// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The element type of output 0 that `attribute`, ONNX's number of a type, asks for.
/// Throws: ValueError unless the node's schema knows it for that output.
[[nodiscard]] DType output_type(const onnx::Node& node, std::string_view attribute,
                                std::int64_t number);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The element type of output 0 given by `attribute`, ONNX's number of a type. Throws: ValueError
/// unless the node's schema allows it.
[[nodiscard]] DType output_type(const onnx::Node& node, std::string_view attribute,
                                std::int64_t number);

}  // namespace d5::detail

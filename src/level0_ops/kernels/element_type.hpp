// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "d5/core/tensor/dtype.hpp"
#include "d5/onnx/model.hpp"

namespace d5::detail {

/// The element type with an attribute's number. Throws: ValueError for an unknown number.
[[nodiscard]] DType element_type(const onnx::Node& node, std::string_view attribute,
                                 std::int64_t number);

}  // namespace d5::detail

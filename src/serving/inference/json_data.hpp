// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Reads a tensor from a JSON array, flat or nested, row-major. `who` is "input 'image'".
/// Throws: ShapeError for a wrong number of elements; TypeError for an element of another type;
/// ValueError for a type without a JSON representation.
[[nodiscard]] Tensor tensor_of_json(const std::string& who, DType dtype, const Shape& shape,
                                    const nlohmann::json& data);
/// The inverse, flat. Throws: ValueError for values without a JSON representation.
[[nodiscard]] nlohmann::json json_of(const std::string& who, const Tensor& tensor);

}  // namespace d5::detail

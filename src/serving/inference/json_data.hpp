// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// A tensor of the elements in a JSON array, flat or nested, row-major. `who` is "input 'image'".
/// Throws: ShapeError where their number is not the shape's; TypeError for one that is not of the
/// type; ValueError for a type that JSON has no numbers of.
[[nodiscard]] Tensor tensor_of_json(const std::string& who, DType dtype, const Shape& shape,
                                    const nlohmann::json& data);
/// The inverse, flat. Throws: ValueError for what JSON cannot say.
[[nodiscard]] nlohmann::json json_of(const std::string& who, const Tensor& tensor);

}  // namespace d5::detail

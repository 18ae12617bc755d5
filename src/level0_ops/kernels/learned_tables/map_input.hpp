// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// The element types of input 0, a map from keys to scalars.
struct MapTypes {
  DType keys, values;
};

/// Throws: TypeError if input 0 is something else.
[[nodiscard]] MapTypes map_types(const InferContext& context);

/// The value of key `i`. Throws: ShapeError unless it is a single element, TypeError unless it has
/// `dtype`.
[[nodiscard]] const Tensor& map_value(const Map& map, std::size_t i, DType dtype,
                                      std::string_view who);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/map_input.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

MapTypes map_types(const InferContext& context) {
  const ValueDesc& desc = context.value(0);
  if (desc.kind == ValueKind::map && desc.element && desc.element->is_tensor()) {
    return {desc.tensor.dtype, desc.element->tensor.dtype};
  }
  throw TypeError(
      fmt::format("{}: X is {}, expected a map to scalars", context.who(), to_string(desc)));
}

const Tensor& map_value(const Map& map, std::size_t i, DType dtype, std::string_view who) {
  const Tensor& value = map.values->sequence().values[i].tensor();
  if (value.dtype() != dtype) {
    throw TypeError(fmt::format("{}: value {} of the map is {}, expected {}", who, i,
                                name_of(value.dtype()), name_of(dtype)));
  }
  if (value.elements() != 1) {
    throw ShapeError(fmt::format("{}: value {} of the map is {}, expected a scalar", who, i,
                                 to_string(value.shape())));
  }
  return value;
}

}  // namespace d5::detail

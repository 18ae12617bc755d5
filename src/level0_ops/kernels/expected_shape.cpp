// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/expected_shape.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void expect_shape(const InferContext& context, std::size_t i, std::string_view name,
                  const Shape& expected) {
  if (!context.has_input(i) || context.shape(i) == expected) return;
  throw ShapeError(fmt::format("{}: {} is {}, expected {}", context.who(), name,
                               to_string(context.shape(i)), to_string(expected)));
}

}  // namespace d5::detail

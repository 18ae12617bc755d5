// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// Throws: ShapeError if input `i` is present and has another shape than `expected`.
void expect_shape(const InferContext& context, std::size_t i, std::string_view name,
                  const Shape& expected);

}  // namespace d5::detail

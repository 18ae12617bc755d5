// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level0_ops/operator/operator.hpp"

namespace d5::detail {

/// The shape of input 0, a stack of square matrices. Throws: ShapeError for any other.
[[nodiscard]] const Shape& square_matrices(const InferContext& context);

}  // namespace d5::detail

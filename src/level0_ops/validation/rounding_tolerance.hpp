// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// The distance of neighbouring numbers above 1; of float64 that of float32.
[[nodiscard]] double spacing_of(DType dtype);

/// What rounding may do to each of `elements` numbers of type `dtype` that took the work `cost`
/// together: an element is a sum of k products of order 1, added up in float32 at least, and
/// rounded to the type here and there.
[[nodiscard]] ForwardTolerance rounding_tolerance(const Cost& cost, std::int64_t elements,
                                                  DType dtype);

}  // namespace d5::detail

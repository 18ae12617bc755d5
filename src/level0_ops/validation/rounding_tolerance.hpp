// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// The spacing of numbers above 1 (machine epsilon); float32's for float64.
[[nodiscard]] double spacing_of(DType dtype);

/// The work of a case by which `rounding_tolerance` finds its sums: `cost`, but for prefix sums as
/// if each element summed its whole axis, which the last one does.
[[nodiscard]] Cost summing_cost(Cost cost, const OperatorCase& one);

/// The rounding error of `elements` numbers of type `dtype` with total work `cost`: each is a sum
/// of k products of order 1, accumulated at least in float32, and occasionally rounded to the type.
[[nodiscard]] ForwardTolerance rounding_tolerance(const Cost& cost, std::int64_t elements,
                                                  DType dtype);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// Reason for a gradient that was not compared.
inline constexpr const char* kNothingCompared =
    "nothing was compared: at every requested gradient, the output is not a number, or has no "
    "slope nearby; give other inputs";

/// Checks the gradients of a custom operator without float64 against differences of its own
/// forward, in the case's own types. One record per input with a gradient, made from `base`; the
/// condition "precision" is the type.
///
/// A slope passes within the rounding error of the difference, `rounding_tolerance` over the step,
/// plus the change for half the step. The step is the cube root of the type's precision, which
/// balances both errors.
/// Source: Nocedal and Wright, Numerical Optimization (2006), 8.1.
[[nodiscard]] std::vector<Measurement> check_narrow_gradient(const Measurement& base,
                                                             const OperatorRegistry& registry,
                                                             const OperatorCase& op_case,
                                                             const GradientOptions& options);

}  // namespace d5::detail

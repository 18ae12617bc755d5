// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// Why a gradient is neither right nor wrong.
inline constexpr const char* kNothingCompared =
    "nothing was compared: wherever a gradient was asked for, the output is no number, or has no "
    "slope beside the place; give other inputs";

/// For an operator without float64 that nobody else has: its gradients against differences of its
/// own forward, in the case's own types. A record for each input with a gradient, made from `base`;
/// the condition "precision" names the type.
///
/// A slope passes within what rounding does to a difference, `rounding_tolerance` over the step,
/// and what half the step changes: the step is the cube root of the type's precision, where both
/// are of one size.
/// Source: Nocedal and Wright, Numerical Optimization (2006), 8.1.
[[nodiscard]] std::vector<Measurement> check_narrow_gradient(const Measurement& base,
                                                             const OperatorRegistry& registry,
                                                             const OperatorCase& op_case,
                                                             const GradientOptions& options);

}  // namespace d5::detail

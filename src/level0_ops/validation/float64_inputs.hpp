// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::detail {

/// Copies of the case's inputs, floats in float64. What is not differentiable and may not be of
/// that type, such as scales that decide a shape, stays what it is.
[[nodiscard]] std::vector<Value> float64_inputs(const OperatorRegistry& registry,
                                                const OperatorCase& op_case);

}  // namespace d5::detail

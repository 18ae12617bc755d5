// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::detail {

/// Copies of the case's inputs, with floats in float64. Non-differentiable inputs that do not allow
/// float64, such as scales that determine a shape, keep their type.
[[nodiscard]] std::vector<Value> float64_inputs(const OperatorRegistry& registry,
                                                const OperatorCase& op_case);

}  // namespace d5::detail

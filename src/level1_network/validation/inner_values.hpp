// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "d5/core/interrupts/interrupt.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// `test_executor` for outputs that are a network's inner values: those that do not depend on its
/// inputs (positions, masks of constants) are accepted.
[[nodiscard]] std::vector<Measurement> test_inner_values(GraphExecutor& subject,
                                                         GraphExecutor& reference,
                                                         const ValueMap& inputs,
                                                         std::optional<ForwardTolerance> tolerance,
                                                         const Interrupt& interrupt);

}  // namespace d5

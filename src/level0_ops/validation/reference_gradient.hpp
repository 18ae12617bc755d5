// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// For a framework that lacks float64: its gradients in the case's own types against those of the
/// reference in float64, on the same inputs and random gradients of the outputs. A record for each
/// input with a gradient, made from `base`. Throws: as both frameworks do.
[[nodiscard]] std::vector<Measurement> compare_with_reference(const Measurement& base,
                                                              const OperatorRegistry& subject,
                                                              const OperatorCase& op_case,
                                                              const Interrupt& interrupt);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/level0_ops/validation/operator_validation.hpp"

namespace d5::detail {

/// Random gradients of the outputs that ONNX declares differentiable, drawn from the case's seed;
/// of all outputs if there are none. `runner` must have run forward.
[[nodiscard]] std::vector<Tensor> directions_of(const OperatorRunner& runner,
                                                const OperatorCase& op_case);

/// Compares the gradients of a framework without float64, in the case's own types, with the
/// reference's in float64, on the same inputs and random output gradients. One record per input
/// with a gradient, made from `base`. Throws: as both frameworks.
[[nodiscard]] std::vector<Measurement> compare_with_reference(const Measurement& base,
                                                              const OperatorRegistry& subject,
                                                              const OperatorCase& op_case,
                                                              const Interrupt& interrupt);

}  // namespace d5::detail

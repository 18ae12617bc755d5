// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"

namespace d5::detail {

/// Random gradients of all floating-point outputs, drawn from the case's seed, on their device;
/// undefined for other outputs. `runner` must have run forward.
[[nodiscard]] std::vector<Tensor> output_gradients(const OperatorRunner& runner,
                                                   const OperatorCase& one);

}  // namespace d5::detail

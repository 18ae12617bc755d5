// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::detail {

/// `weigh_evidence` for an operator's output. An output also carries no information if it is a
/// constant that does not change when differentiable inputs are scaled: a stub that fills its
/// output would agree. Values expected by the case, and outputs that do not depend on such inputs
/// (`Shape`, `ConstantOfShape`), may be constant. `reference` is the framework that computed
/// `wanted`.
void weigh_output(Measurement& record, const std::string& what, const OperatorCase& one,
                  const std::string& reference, std::size_t output, const Value& wanted);

}  // namespace d5::detail

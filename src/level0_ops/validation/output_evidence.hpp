// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"
#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::detail {

/// `weigh_evidence` of an operator's output, which says nothing either where it is one real number
/// in all elements and stays so when the inputs that have a gradient are scaled: a stub that fills
/// its output would agree. What the case itself expects, and what follows from no such input
/// (`Shape`, `ConstantOfShape`), may be constant. `reference` is who gave `wanted`.
void weigh_output(Measurement& record, const std::string& what, const OperatorCase& one,
                  const std::string& reference, std::size_t output, const Value& wanted);

}  // namespace d5::detail

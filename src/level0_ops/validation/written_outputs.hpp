// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/case/operator_case.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"

namespace d5::detail {

/// What is wrong with each output of a case on the host without looking at its values: elements
/// that forward does not write, or NaN everywhere for inputs without NaN. Empty: nothing. Two runs
/// over different bytes show what is not written.
[[nodiscard]] std::vector<std::string> output_faults(const OperatorRegistry& registry,
                                                     const OperatorCase& op_case);

}  // namespace d5::detail

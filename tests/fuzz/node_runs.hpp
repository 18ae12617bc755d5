// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level0_ops/case/operator_case.hpp"
#include "fuzz/outcome.hpp"

namespace d5::fuzz {

/// Forward twice, and backward where there is a gradient, with a guard around all memory.
[[nodiscard]] Outcome run_alone(const OperatorCase& op_case, const std::string& framework);
/// Twice by d5's executor. Some inputs are constants, the others are fed: which the line decides.
[[nodiscard]] Outcome run_in_network(const OperatorCase& op_case, const std::string& framework);
/// Twice by the framework's own executor; beyond it where it has none.
[[nodiscard]] Outcome run_by_own_executor(const OperatorCase& op_case,
                                          const std::string& framework);

}  // namespace d5::fuzz

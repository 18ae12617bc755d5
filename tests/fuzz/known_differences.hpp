// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level0_ops/case/operator_case.hpp"

namespace d5::fuzz {

/// Whether it is known, and no fault of d5's, that the framework's own function gives other values
/// than the reference for this case.
[[nodiscard]] bool is_known_to_differ(const OperatorCase& op_case, const std::string& framework);

/// Whether the framework compiles models by itself, and lets pass what ONNX forbids: axes outside,
/// lists of another length. What it computes then is nobody's result.
[[nodiscard]] bool checks_less(const std::string& framework);

/// Allowed difference of the case's results beyond rounding, in units of the output: 1 if another
/// order of the same steps rounds to the next integer.
[[nodiscard]] double known_tolerance(const OperatorCase& op_case, const std::string& framework);

}  // namespace d5::fuzz

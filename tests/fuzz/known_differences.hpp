// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level0_ops/operator_case.hpp"

namespace d5::fuzz {

/// Whether it is known, and no fault of d5's, that the framework's own function gives other values
/// than the reference for this case.
[[nodiscard]] bool is_known_to_differ(const OperatorCase& op_case, const std::string& framework);

}  // namespace d5::fuzz

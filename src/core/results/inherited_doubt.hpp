// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Mistrusts `result` where `part`, from whose samples it follows, is mistrusted, for the same
/// reason, unless it has that; `who` stands before it ("rank 1").
void inherit_doubt(Measurement& result, const Measurement& part, const std::string& who = "");

}  // namespace d5::detail

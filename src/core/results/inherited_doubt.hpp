// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Mistrusts `result` if `part`, from which it is derived, is mistrusted, for the same reason
/// (once), prefixed by `who` ("rank 1").
void inherit_doubt(Measurement& result, const Measurement& part, const std::string& who = "");

}  // namespace d5::detail

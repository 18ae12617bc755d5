// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Checks that an evaluation from a network (`FixedEvaluation::canonical`) names no code and no
/// place of this machine. Throws: FormatError, with `who` at its front, if it does, or is no
/// evaluation.
void expect_foreign(const std::string& canonical, const std::string& who);

}  // namespace d5::detail

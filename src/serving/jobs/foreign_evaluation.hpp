// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// An evaluation with all that it names (`FixedEvaluation::canonical`) that came over a network
/// names no code and no place of this machine. Throws: FormatError, with `who` in front, for one
/// that does, or is none.
void expect_foreign(const std::string& canonical, const std::string& who);

}  // namespace d5::detail

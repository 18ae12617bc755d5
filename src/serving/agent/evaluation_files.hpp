// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Writes an evaluation with all that it names (`FixedEvaluation::canonical`) as manifests into a
/// folder, and returns the file that `d5 eval run` takes. Throws: FormatError for what is none, or
/// names places of a machine.
std::string write_evaluation(const std::string& canonical, const std::string& folder);

}  // namespace d5::detail

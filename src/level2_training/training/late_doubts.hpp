// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Adds to the checkpoint in `path` why times of `results` are mistrusted, where it tells of none:
/// what the machine did was asked once more behind it. A run that resumes it with nothing left to
/// train then doubts them as well. Nothing where there is no file.
void keep_late_doubts(const std::string& path, const std::vector<Measurement>& results);

}  // namespace d5::detail

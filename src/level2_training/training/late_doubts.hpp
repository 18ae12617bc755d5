// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// Adds the reasons why times of `results` are mistrusted to the checkpoint in `path` if it has
/// none: the machine's state was checked once more after it was written. A run that resumes it with
/// nothing left to train then mistrusts them as well. No effect without a file.
void keep_late_doubts(const std::string& path, const std::vector<Measurement>& results);

}  // namespace d5::detail

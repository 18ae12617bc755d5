// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/launching/rank_launch.hpp"

namespace d5::detail {

/// Throws the error of a failed launch of d5: ValueError for refused words (status 2), else
/// CommunicationError. `what` describes the launch.
[[noreturn]] void throw_failed(const LaunchedRun& run, const std::string& what, int ranks);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level3_distributed/launching/rank_launch.hpp"

namespace d5::detail {

/// Throws what a launch of d5 that failed said: ValueError for words that were refused (status 2),
/// else CommunicationError; `what` was launched.
[[noreturn]] void throw_failed(const LaunchedRun& run, const std::string& what, int ranks);

}  // namespace d5::detail

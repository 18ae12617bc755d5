// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph_executor.hpp"

namespace d5::detail {

/// With which `executor` was made: for another one that computes alike. Throws: Unsupported, naming
/// `who`, for a framework's own executor, and one on a device.
[[nodiscard]] ExecutorOptions options_of(GraphExecutor& executor, const std::string& who);

}  // namespace d5::detail

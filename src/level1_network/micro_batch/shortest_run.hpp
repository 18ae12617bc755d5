// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace d5 {

/// Seconds of the shortest of a few calls, after one that warms up: enough to tell a fast kernel
/// from a slow one, and soon over.
[[nodiscard]] double shortest_seconds(const std::function<void()>& run);

}  // namespace d5

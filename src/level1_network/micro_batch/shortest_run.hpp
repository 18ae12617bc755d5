// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace d5 {

/// Seconds of the shortest of a few calls, after a warm-up: a quick way to tell a fast kernel from
/// a slow one.
[[nodiscard]] double shortest_seconds(const std::function<void()>& run);

}  // namespace d5

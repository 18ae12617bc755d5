// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "d5/core/machine/threads.hpp"

namespace d5::detail {

/// Calls `f(i)` for each i in [0, count), on `threads()` threads. A call does `work`. Each thread
/// gets work of at least `least`, if possible, because less costs more than it saves.
template <class F>
void parallel_for_each(std::int64_t count, std::int64_t work, std::int64_t least, F&& f) {
  const std::int64_t grain = std::max<std::int64_t>(1, least / std::max<std::int64_t>(1, work));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i);
  });
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5::detail {

/// A thread's state in a trace, for code that runs several strands of work on one thread.
struct ThreadTrace {
  std::vector<std::uint64_t> open_spans;  ///< outermost first
  int lane = -1;                          ///< negative: the thread's own
};
[[nodiscard]] ThreadTrace& trace_of_thread();

}  // namespace d5::detail

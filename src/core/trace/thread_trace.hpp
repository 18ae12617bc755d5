// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5::detail {

/// What a trace knows of a thread, for who runs several strands of work on one.
struct ThreadTrace {
  std::vector<std::uint64_t> open_spans;  ///< the innermost last
  int lane = -1;                          ///< below 0: the thread's own
};
[[nodiscard]] ThreadTrace& trace_of_thread();

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace d5::detail {

/// This thread's, the innermost last: for who runs several strands of work on one thread.
[[nodiscard]] std::vector<std::uint64_t>& open_spans_of_thread();

}  // namespace d5::detail

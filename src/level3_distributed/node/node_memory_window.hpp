// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/memory_window.hpp"

namespace d5::detail {

/// A window in memory that all ranks share. A collective. Throws: Unsupported where they cannot.
[[nodiscard]] std::shared_ptr<MemoryWindow> make_node_memory_window(
    std::shared_ptr<Communicator> ranks, std::size_t bytes);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/memory/memory_plan.hpp"

namespace d5 {

/// Looks for an order in which `blocks` take at most `enough` bytes when placed. It begins at one
/// of `orders` after another, and moves blocks that end where the whole ends, or that live with
/// such, to other places in the order; what is no worse is kept. After a bounded number of
/// placements it gives up. Returns the size of the whole, with `blocks` at the best places found,
/// which may be those they had.
[[nodiscard]] std::size_t search_offsets(std::vector<MemoryBlock>& blocks,
                                         std::span<const std::vector<std::size_t>> orders,
                                         std::size_t enough);

}  // namespace d5

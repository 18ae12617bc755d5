// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/memory/memory_plan.hpp"

namespace d5 {

/// Searches for an order in which `blocks` take at most `enough` bytes when placed. Local search
/// from each of `orders`: it moves blocks at the end of the arena, or alive together with such, to
/// other positions in the order, and keeps a move that is no worse. It gives up after a bounded
/// number of placements. Returns the size of the arena, with `blocks` at the best offsets found,
/// which may be their original ones.
[[nodiscard]] std::size_t search_offsets(std::vector<MemoryBlock>& blocks,
                                         std::span<const std::vector<std::size_t>> orders,
                                         std::size_t enough);

}  // namespace d5

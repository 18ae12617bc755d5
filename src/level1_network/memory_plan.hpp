// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace d5 {

/// Memory that a plan needs from step `begin` to step `end`, both included.
///
/// Units: bytes.
struct MemoryBlock {
  static constexpr std::size_t kForever = std::numeric_limits<std::size_t>::max();
  std::size_t bytes = 0;
  std::size_t begin = 0, end = 0;
  std::size_t offset = 0;  ///< written by `assign_offsets`
};

/// The least that blocks need, wherever they are put: the largest sum of those that are alive at
/// one step, each on whole 64-byte lines.
struct MemoryBound {
  std::size_t bytes = 0;
  std::size_t step = 0;  ///< the first at which so much is alive
};
[[nodiscard]] MemoryBound memory_bound(std::span<const MemoryBlock> blocks);

/// Gives blocks that live at the same time places that do not overlap, on 64-byte lines. Returns
/// the size of the whole. `memory_bound` must be an amount that some machine has.
///
/// Greedy: the largest first, into the smallest gap that holds it. Source: Pisarchyk and Lee,
/// "Efficient Memory Management for Deep Neural Net Inference" (2020), greedy by size.
[[nodiscard]] std::size_t assign_offsets(std::vector<MemoryBlock>& blocks);

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>
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

  /// `bytes` rounded up to 64-byte lines; sizes near the maximum stay there.
  [[nodiscard]] std::size_t room() const;
};

/// Lower bound on the memory of any placement: the largest sum of blocks alive at one step, each in
/// whole 64-byte lines.
struct MemoryBound {
  std::size_t bytes = 0;
  std::size_t step = 0;  ///< the first at which so much is alive
};
[[nodiscard]] MemoryBound memory_bound(std::span<const MemoryBlock> blocks);

/// Assigns offsets on 64-byte lines, so that blocks that live at the same time do not overlap. It
/// takes the best of `planning_methods`, or if that is above `kClose` times the bound, the result
/// of a search. Deterministic. Returns the size of the arena. `memory_bound` must be an amount that
/// a machine can have.
[[nodiscard]] std::size_t assign_offsets(std::vector<MemoryBlock>& blocks);
inline constexpr double kClose = 1.05;

/// A rule for the order of placing blocks, each in the smallest sufficient gap among the placed
/// blocks that live at the same time.
///
/// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020),
/// for "by size" (the largest first) and "by breadth" (from the steps with the most live memory).
/// "by begin" is the best fit of an allocator that gets the blocks in order of time.
struct PlanningMethod {
  std::string_view name;
  std::vector<std::size_t> (*order)(std::span<const MemoryBlock> blocks);  ///< places in `blocks`
};
[[nodiscard]] std::span<const PlanningMethod> planning_methods();

/// Places `blocks` in this order. Returns the size of the arena.
[[nodiscard]] std::size_t place_in_order(std::vector<MemoryBlock>& blocks,
                                         std::span<const std::size_t> order);

}  // namespace d5

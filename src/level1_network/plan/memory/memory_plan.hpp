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

  /// `bytes` on whole 64-byte lines; a size that no machine has stays one.
  [[nodiscard]] std::size_t room() const;
};

/// Lower bound on the memory of any placement: the largest sum of blocks alive at one step, each in
/// whole 64-byte lines.
struct MemoryBound {
  std::size_t bytes = 0;
  std::size_t step = 0;  ///< the first at which so much is alive
};
[[nodiscard]] MemoryBound memory_bound(std::span<const MemoryBlock> blocks);

/// Gives blocks that live at the same time places that do not overlap, on 64-byte lines: those of
/// the best of `planning_methods`, and where these are above `kClose` times the bound what a search
/// makes of them. The same blocks always get the same places. Returns the size of the whole.
/// `memory_bound` must be an amount that some machine has.
[[nodiscard]] std::size_t assign_offsets(std::vector<MemoryBlock>& blocks);
inline constexpr double kClose = 1.05;

/// A rule in which order blocks are placed, each in the smallest gap that holds it among those that
/// live at the same time and have a place.
///
/// Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference" (2020),
/// for "by size" (the largest first) and "by breadth" (from the steps at which most is alive);
/// "by begin" is best fit as an allocator does it that meets the blocks one after another.
struct PlanningMethod {
  std::string_view name;
  std::vector<std::size_t> (*order)(std::span<const MemoryBlock> blocks);  ///< places in `blocks`
};
[[nodiscard]] std::span<const PlanningMethod> planning_methods();

/// Places `blocks` in this order. Returns the size of the whole.
[[nodiscard]] std::size_t place_in_order(std::vector<MemoryBlock>& blocks,
                                         std::span<const std::size_t> order);

}  // namespace d5

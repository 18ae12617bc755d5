// SPDX-License-Identifier: Apache-2.0
#include "level1_network/memory_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "d5/core/arena.hpp"
#include "d5/core/error.hpp"

namespace d5 {
namespace {

void check_budget(std::size_t offset, std::size_t bytes) {
  if (offset > memory_budget() || bytes > memory_budget() - offset) {
    throw MemoryError(fmt::format(
        "the plan needs more than the memory budget of {} bytes (a block of {} at {}); use smaller "
        "inputs or raise the budget",
        memory_budget(), bytes, offset));
  }
}

}  // namespace

std::size_t assign_offsets(std::vector<MemoryBlock>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });

  std::vector<const MemoryBlock*> placed;  // by offset
  std::size_t total = 0;
  for (const std::size_t index : order) {
    MemoryBlock& block = blocks[index];
    if (block.bytes == 0) continue;
    check_budget(0, block.bytes);
    const std::size_t bytes = Arena::aligned(block.bytes);
    std::size_t best = MemoryBlock::kForever, best_gap = MemoryBlock::kForever, free_from = 0;
    for (const MemoryBlock* other : placed) {
      if (other->end < block.begin || block.end < other->begin) continue;
      if (other->offset > free_from) {
        const std::size_t gap = other->offset - free_from;
        if (gap >= bytes && gap < best_gap) best = free_from, best_gap = gap;
      }
      free_from = std::max(free_from, other->offset + Arena::aligned(other->bytes));
    }
    block.offset = best == MemoryBlock::kForever ? free_from : best;
    check_budget(block.offset, bytes);
    total = std::max(total, block.offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), &block,
                                   [](const MemoryBlock* a, const MemoryBlock* b) {
                                     return a->offset < b->offset;
                                   }),
                  &block);
  }
  return total;
}

}  // namespace d5

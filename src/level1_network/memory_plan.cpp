// SPDX-License-Identifier: Apache-2.0
#include "level1_network/memory_plan.hpp"

#include <algorithm>
#include <numeric>

#include "d5/core/arena.hpp"

namespace d5 {
namespace {

/// On whole lines; more than any machine has stays so.
std::size_t lines(std::size_t bytes) {
  constexpr std::size_t kMost = MemoryBlock::kForever - Arena::kAlignment;
  return Arena::aligned(std::min(bytes, kMost));
}

std::size_t sum(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? MemoryBlock::kForever : result;
}

}  // namespace

MemoryBound memory_bound(std::span<const MemoryBlock> blocks) {
  // What is alive grows only where a block begins.
  std::vector<const MemoryBlock*> by_begin, by_end;
  for (const MemoryBlock& block : blocks) {
    if (block.bytes > 0) by_begin.push_back(&block);
  }
  by_end = by_begin;
  std::ranges::sort(by_begin, {}, &MemoryBlock::begin);
  std::ranges::sort(by_end, {}, &MemoryBlock::end);
  MemoryBound bound;
  std::size_t alive = 0;
  auto ended = by_end.begin();
  for (const MemoryBlock* block : by_begin) {
    for (; (*ended)->end < block->begin; ++ended) alive -= lines((*ended)->bytes);
    alive = sum(alive, lines(block->bytes));
    if (alive == MemoryBlock::kForever) return {alive, block->begin};
    if (alive > bound.bytes) bound = {alive, block->begin};
  }
  return bound;
}

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

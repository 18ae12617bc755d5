// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/memory_plan.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "d5/core/tensor/arena.hpp"
#include "level1_network/plan/memory/offset_search.hpp"

namespace d5 {
namespace {

using Blocks = std::span<const MemoryBlock>;
using Order = std::vector<std::size_t>;

std::size_t sum(std::size_t a, std::size_t b) {
  std::size_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? MemoryBlock::kForever : result;
}

/// Sorts blocks by `key`, the smallest first.
template <class Key>
Order sorted_by(Blocks blocks, const Key& key) {
  std::vector<std::pair<decltype(key(blocks[0])), std::size_t>> keyed;
  for (std::size_t b = 0; b < blocks.size(); ++b) keyed.emplace_back(key(blocks[b]), b);
  std::ranges::sort(keyed);
  Order order;
  for (const auto& [value, b] : keyed) order.push_back(b);
  return order;
}

/// The largest first.
Order by_size(Blocks blocks) {
  return sorted_by(blocks, [](const MemoryBlock& block) { return ~block.bytes; });
}

/// Orders blocks by the steps with the most live bytes; within a step, the largest block first.
Order by_breadth(Blocks blocks) {
  Order begins;
  for (const MemoryBlock& block : blocks) begins.push_back(block.begin);
  std::ranges::sort(begins);
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  std::vector<std::size_t> breadth(begins.size(), 0);
  const auto steps_of = [&](const MemoryBlock& block) {
    const auto first = std::ranges::lower_bound(begins, block.begin);
    return std::pair(first - begins.begin(),
                     std::upper_bound(first, begins.end(), block.end) - begins.begin());
  };
  for (const MemoryBlock& block : blocks) {
    const auto [first, end] = steps_of(block);
    for (auto s = first; s < end; ++s) breadth[std::size_t(s)] += block.room();
  }
  return sorted_by(blocks, [&](const MemoryBlock& block) {
    const auto [first, end] = steps_of(block);
    const auto widest = std::max_element(breadth.begin() + first, breadth.begin() + end);
    return std::tuple(~*widest, widest - breadth.begin(), ~block.bytes);
  });
}

/// Orders blocks by their first step; of equal ones, the longest-lived first.
Order by_begin(Blocks blocks) {
  return sorted_by(blocks, [](const MemoryBlock& b) { return std::tuple(b.begin, ~b.end); });
}

constexpr PlanningMethod kMethods[] = {
    {"by size", by_size}, {"by breadth", by_breadth}, {"by begin", by_begin}};

}  // namespace

std::size_t MemoryBlock::room() const {
  return Arena::aligned(std::min(bytes, kForever - Arena::kAlignment));
}

MemoryBound memory_bound(Blocks blocks) {
  // The sum of live blocks grows only where a block begins.
  std::vector<const MemoryBlock*> begins, ends;
  for (const MemoryBlock& block : blocks) {
    if (block.bytes > 0) begins.push_back(&block);
  }
  ends = begins;
  std::ranges::sort(begins, {}, &MemoryBlock::begin);
  std::ranges::sort(ends, {}, &MemoryBlock::end);
  MemoryBound bound;
  std::size_t alive = 0;
  auto ended = ends.begin();
  for (const MemoryBlock* block : begins) {
    for (; (*ended)->end < block->begin; ++ended) alive -= (*ended)->room();
    alive = sum(alive, block->room());
    if (alive == MemoryBlock::kForever) return {alive, block->begin};
    if (alive > bound.bytes) bound = {alive, block->begin};
  }
  return bound;
}

std::span<const PlanningMethod> planning_methods() { return kMethods; }

std::size_t place_in_order(std::vector<MemoryBlock>& blocks, std::span<const std::size_t> order) {
  std::vector<const MemoryBlock*> placed;  // sorted by offset
  std::size_t total = 0;
  for (const std::size_t index : order) {
    MemoryBlock& block = blocks[index];
    if (block.bytes == 0) continue;
    const std::size_t bytes = block.room();
    std::size_t best = MemoryBlock::kForever, best_gap = MemoryBlock::kForever, free_from = 0;
    for (const MemoryBlock* other : placed) {
      if (other->end < block.begin || block.end < other->begin) continue;
      if (other->offset > free_from) {
        const std::size_t gap = other->offset - free_from;
        if (gap >= bytes && gap < best_gap) best = free_from, best_gap = gap;
      }
      free_from = std::max(free_from, other->offset + other->room());
    }
    block.offset = best == MemoryBlock::kForever ? free_from : best;
    total = std::max(total, block.offset + bytes);
    placed.insert(std::ranges::upper_bound(placed, block.offset, {}, &MemoryBlock::offset), &block);
  }
  return total;
}

std::size_t assign_offsets(std::vector<MemoryBlock>& blocks) {
  const auto enough = std::size_t(kClose * double(memory_bound(blocks).bytes));
  std::vector<Order> orders;
  std::vector<MemoryBlock> best;
  std::size_t total = MemoryBlock::kForever;
  const auto keep_better = [&](std::size_t found) {
    if (found < total) best = blocks, total = found;
  };
  for (const PlanningMethod& method : planning_methods()) {
    orders.push_back(method.order(blocks));
    keep_better(place_in_order(blocks, orders.back()));
  }
  if (total > enough) keep_better(search_offsets(blocks, orders, enough));
  blocks = std::move(best);
  return total;
}

}  // namespace d5

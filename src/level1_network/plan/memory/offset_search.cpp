// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/offset_search.hpp"

#include <algorithm>

#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

using Order = std::vector<std::size_t>;

constexpr std::size_t kMostPlacements = 1000;
/// The search compares about this many pairs of blocks at most, in a fraction of a second.
constexpr std::size_t kMostPairs = 500'000'000;
/// Placements tried from one start; when a search is stuck, another start is better than more
/// steps.
constexpr std::size_t kPlacementsOfABeginning = 50;

/// An order of the blocks, and the offsets that it leads to.
struct Candidate {
  Order order;
  std::vector<MemoryBlock> blocks;
  std::size_t total = 0;
  void place() { total = place_in_order(blocks, order); }
};

bool live_together(const MemoryBlock& a, const MemoryBlock& b) {
  return a.bytes > 0 && b.bytes > 0 && a.begin <= b.end && b.begin <= a.end;
}

/// The place of the one block in the order for which `is_meant` is true.
template <class IsMeant>
std::size_t drawn(const Candidate& from, RandomStream& random, const IsMeant& is_meant) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < from.order.size(); ++i) {
    if (is_meant(from.blocks[from.order[i]])) places.push_back(i);
  }
  return places[random.below(places.size())];
}

/// Moves one block to another position in the order, mostly earlier.
Candidate neighbour(const Candidate& of, RandomStream& random) {
  std::size_t from = drawn(of, random, [&](const MemoryBlock& block) {
    return block.bytes > 0 && block.offset + block.room() == of.total;
  });
  if (random.below(2) == 0) {
    const MemoryBlock& highest = of.blocks[of.order[from]];
    from = drawn(of, random, [&](const MemoryBlock& b) { return live_together(b, highest); });
  }
  const std::size_t to = random.below(random.below(4) == 0 ? of.order.size() : from + 1);
  Candidate result = of;
  const auto begin = result.order.begin();
  if (to < from) {
    std::rotate(begin + to, begin + from, begin + from + 1);
  } else {
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  }
  result.place();
  return result;
}

}  // namespace

std::size_t search_offsets(std::vector<MemoryBlock>& blocks, std::span<const Order> orders,
                           std::size_t enough) {
  const std::size_t pairs = std::max<std::size_t>(blocks.size() * blocks.size(), 1);
  const std::size_t most = std::min(kMostPlacements, kMostPairs / pairs);
  RandomStream random(1);
  Candidate best, now;
  best.total = MemoryBlock::kForever;
  for (std::size_t n = 0; n < most && best.total > enough; ++n) {
    if (n % kPlacementsOfABeginning == 0) {
      now = {orders[n / kPlacementsOfABeginning % orders.size()], blocks};
      now.place();
    } else if (Candidate next = neighbour(now, random); next.total <= now.total) {
      now = std::move(next);
    }
    if (now.total < best.total) best = now;
  }
  if (best.total == MemoryBlock::kForever) return best.total;
  blocks = std::move(best.blocks);
  return best.total;
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/memory/memory_plan.hpp"

#include <catch2/catch.hpp>

#include "d5/core/tensor/random.hpp"

using d5::MemoryBlock;

TEST_CASE("blocks that never live together share memory") {
  std::vector<MemoryBlock> blocks = {{640, 0, 1}, {640, 2, 3}, {640, 4, MemoryBlock::kForever}};
  CHECK(d5::assign_offsets(blocks) == 640);
  for (const auto& block : blocks) CHECK(block.offset == 0);
}

TEST_CASE("a chain needs two blocks, for each step reads one and writes one") {
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = 0; i < 10; ++i) blocks.push_back({128, i, i + 1});
  CHECK(d5::assign_offsets(blocks) == 256);
}

TEST_CASE("a block goes into the smallest gap that holds it") {
  // After step 1 the second and the fourth leave gaps of 640 and 320 bytes.
  std::vector<MemoryBlock> blocks = {{1024, 0, 9}, {640, 0, 1}, {512, 0, 9},
                                     {320, 0, 1},  {256, 0, 9}, {192, 2, 9}};
  const std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  (void)d5::place_in_order(blocks, order);
  CHECK(blocks[5].offset == blocks[3].offset);
  CHECK(blocks[3].offset == 1024 + 640 + 512);
}

namespace {

std::vector<MemoryBlock> random_blocks(std::uint64_t seed, std::size_t count) {
  d5::RandomStream random(seed);
  std::vector<MemoryBlock> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = random.below(100);
    blocks.push_back({random.below(5000), begin, begin + random.below(20)});
  }
  return blocks;
}

void check_apart(const std::vector<MemoryBlock>& blocks, std::size_t total) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto& a = blocks[i];
    REQUIRE(a.offset % 64 == 0);
    REQUIRE(a.offset + a.bytes <= total);
    for (std::size_t j = 0; j < i; ++j) {
      const auto& b = blocks[j];
      const bool together = a.begin <= b.end && b.begin <= a.end && a.bytes > 0 && b.bytes > 0;
      REQUIRE((!together || a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset));
    }
  }
}

}  // namespace

TEST_CASE("blocks that live together never overlap, by every method and by the best of them") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<MemoryBlock> blocks = random_blocks(seed, 15 * seed);
    const std::size_t bound = d5::memory_bound(blocks).bytes;
    std::size_t least = MemoryBlock::kForever;
    for (const auto& method : d5::planning_methods()) {
      INFO(method.name);
      const std::size_t total = d5::place_in_order(blocks, method.order(blocks));
      check_apart(blocks, total);
      CHECK(total >= bound);
      least = std::min(least, total);
    }
    const std::size_t planned = d5::assign_offsets(blocks);
    check_apart(blocks, planned);
    CHECK(planned >= bound);
    CHECK(planned <= least);
    std::vector<MemoryBlock> once_more = random_blocks(seed, 15 * seed);
    CHECK(d5::assign_offsets(once_more) == planned);
  }
}

TEST_CASE("a search finds places that no rule does") {
  // In lines: 9 are alive at steps 2 and 3, and the second and the third at 0 and 5 need no more.
  std::vector<MemoryBlock> blocks = {
      {3 * 64, 0, 1}, {5 * 64, 2, 3}, {4 * 64, 3, 5}, {4 * 64, 1, 2}, {4 * 64, 0, 0}};
  REQUIRE(d5::memory_bound(blocks).bytes == 9 * 64);
  for (const auto& method : d5::planning_methods()) {
    CHECK(d5::place_in_order(blocks, method.order(blocks)) >= 12 * 64);
  }
  CHECK(d5::assign_offsets(blocks) == 9 * 64);
  check_apart(blocks, 9 * 64);
}

TEST_CASE("no places can do with less than what is alive at one step") {
  const std::vector<MemoryBlock> blocks = {{640, 0, 1}, {60, 1, 2}, {64, 2, 3}, {0, 0, 9}};
  const d5::MemoryBound bound = d5::memory_bound(blocks);
  CHECK(bound.bytes == 704);  // 60 bytes take a line
  CHECK(bound.step == 1);
  CHECK(d5::memory_bound({}).bytes == 0);
  const std::vector<MemoryBlock> huge = {{~std::size_t{0}, 0, 1}, {~std::size_t{0}, 0, 1}};
  CHECK(d5::memory_bound(huge).bytes == MemoryBlock::kForever);
}

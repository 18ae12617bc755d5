// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/strided_loop.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"

using namespace d5;
using detail::StridedLoop;

namespace {

/// The places that the loop visits, for operands 0 and 1, in order.
std::vector<std::pair<int, int>> visits(const StridedLoop& loop) {
  std::vector<std::pair<int, int>> result;
  loop.run_in_order([&](const StridedLoop::Offsets& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      result.emplace_back(at[0] + i * loop.step(0), at[1] + i * loop.step(1));
    }
  });
  return result;
}

}  // namespace

TEST_CASE("dimensions that lie one after the other become one row") {
  StridedLoop loop(2);
  loop.add(2, {12, 12});
  loop.add(3, {4, 4});
  loop.add(4, {1, 1});
  CHECK(loop.row_length() == 24);
  CHECK(loop.elements() == 24);
}

TEST_CASE("a transposed walk visits every element once") {
  StridedLoop loop(2);
  loop.add(2, {3, 1});
  loop.add(3, {1, 2});
  CHECK(visits(loop) ==
        std::vector<std::pair<int, int>>{{0, 0}, {1, 2}, {2, 4}, {3, 1}, {4, 3}, {5, 5}});
}

TEST_CASE("a broadcast dimension has step 0") {
  const Shape column{2, 1};
  const auto loop = detail::broadcast_loop({2, 3}, {&column});
  CHECK(visits(loop) ==
        std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {2, 0}, {3, 1}, {4, 1}, {5, 1}});
}

TEST_CASE("a loop without dimensions visits once, with an empty one never") {
  StridedLoop scalar(2);
  CHECK(visits(scalar).size() == 1);
  StridedLoop empty(2);
  empty.add(3, {0, 0});
  empty.add(0, {1, 1});
  CHECK(visits(empty).empty());
}

TEST_CASE("pieces on several threads visit what one thread visits") {
  // Odd sizes, so that pieces begin in the middle of rows.
  const std::int64_t rows = 1237, columns = 91;
  StridedLoop loop(2);
  loop.add(rows, {1, columns});
  loop.add(columns, {rows, 1});
  std::vector<int> seen(std::size_t(rows * columns), 0);
  loop.run([&](const StridedLoop::Offsets& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t to = at[0] + i * loop.step(0), from = at[1] + i * loop.step(1);
      seen[std::size_t(to)] += from % columns == to / rows && from / columns == to % rows;
    }
  });
  CHECK(seen == std::vector<int>(seen.size(), 1));
}

TEST_CASE("too many dimensions are refused") {
  StridedLoop loop(2);
  for (std::size_t i = 0; i < StridedLoop::kMostDims; ++i) loop.add(2, {0, std::int64_t(i) * 7});
  CHECK_THROWS_AS(loop.add(2, {0, 1}), Unsupported);
}

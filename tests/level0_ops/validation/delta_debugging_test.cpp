// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/delta_debugging.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "level0_ops/validation/complaint.hpp"

using namespace d5;

TEST_CASE("delta debugging ends where no item can go") {
  const auto has = [](const std::vector<int>& all, int item) {
    return std::ranges::find(all, item) != all.end();
  };
  std::vector<int> items;
  for (int i = 0; i < 100; ++i) items.push_back(i);
  int tries = 0;
  const auto found = smallest_failing(items, [&](const std::vector<int>& some) {
    ++tries;
    return has(some, 3) && has(some, 50) && has(some, 51);
  });
  CHECK(found == std::vector<int>{3, 50, 51});
  CHECK(tries < 100);
  CHECK(smallest_failing(std::vector{7}, [](const auto&) { return true; }) == std::vector{7});
}

TEST_CASE("the least size is found by bisection, 1 first") {
  int tries = 0;
  const auto above = [&](std::int64_t most_good) {
    return [&tries, most_good](std::int64_t size) {
      ++tries;
      return size > most_good;
    };
  };
  CHECK(least_failing(512, above(4)) == 5);
  CHECK(tries <= 11);
  CHECK(least_failing(512, above(511)) == 512);
  CHECK(least_failing(1, above(0)) == 1);
  tries = 0;
  CHECK(least_failing(512, above(0)) == 1);
  CHECK(tries == 1);
}

TEST_CASE("names and numbers make no other complaint") {
  CHECK(is_same_complaint("node 'a': 3x4 is too large", "node 'b7': 1x1 is too large"));
  CHECK_FALSE(is_same_complaint("node 'a': too large", "node 'a': too small"));
}

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

TEST_CASE("LRN divides by the squares of the neighbouring channels") {
  // size 3: alpha / size = 1; scale of channel 1: 1 + 1 + 4 + 9
  const auto y = result_of("LRN 1x3x1{1,2,3} size=3 alpha=3 beta=0.5 bias=1");
  CHECK(y[0] == Approx(1 / std::sqrt(1 + 1 + 4)));
  CHECK(y[1] == Approx(2 / std::sqrt(1 + 1 + 4 + 9)));
  CHECK(y[2] == Approx(3 / std::sqrt(1 + 4 + 9)));
}

TEST_CASE("an even size reaches farther up") {
  const auto y = result_of("LRN 1x2x1{1,2} size=2 alpha=2 beta=1 bias=0");
  CHECK(y[0] == Approx(1.0 / 5));
  CHECK(y[1] == Approx(2.0 / 4));
}

TEST_CASE("LRN's gradient agrees with central differences") {
  check_gradient("LRN 2x5x2x3 size=3 alpha=0.5 beta=0.75 bias=2", 1);
  check_gradient("LRN 1x6x2 size=4 alpha=0.9 beta=0.5", 1);
}

TEST_CASE("LRN refuses what has no meaning") {
  CHECK_THROWS_AS(run_case("LRN 1x3x1 size=0"), ValueError);
  CHECK_THROWS_AS(run_case("LRN 1x3x1"), FormatError);
  CHECK_THROWS_AS(run_case("LRN 3 size=1"), ShapeError);
}

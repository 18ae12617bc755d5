// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Inverse inverts each matrix of a stack") {
  CHECK(result_of("com.microsoft.Inverse 2x2x2{1,2,3,4,0,1,2,0}") ==
        Floats{-2, 1, 1.5F, -0.5F, 0, 0.5F, 1, 0});
  CHECK(result_of("com.microsoft.Inverse 1x1{4}") == Floats{0.25F});
  CHECK(shape_of("com.microsoft.Inverse 2x0x0") == "2x0x0");
}

TEST_CASE("a matrix without an inverse becomes NaN, and no other") {
  const Floats y = result_of("com.microsoft.Inverse 2x2x2{1,2,2,4,2,0,0,2}");
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::isnan(y[i]));
  CHECK(Floats(y.begin() + 4, y.end()) == Floats{0.5F, 0, 0, 0.5F});
}

TEST_CASE("Inverse refuses what is not square") {
  CHECK_THROWS_AS(run_case("com.microsoft.Inverse 2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.Inverse 3"), ShapeError);
}

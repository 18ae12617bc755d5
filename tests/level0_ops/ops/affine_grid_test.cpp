// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("AffineGrid of the identity is evenly spaced, x first") {
  const std::string line = "AffineGrid 1x2x3{1,0,0,0,1,0} int64:{1,1,2,2} ";
  CHECK(result_of(line) == Floats{-0.5F, -0.5F, 0.5F, -0.5F, -0.5F, 0.5F, 0.5F, 0.5F});
  CHECK(result_of(line + "align_corners=1") == Floats{-1, -1, 1, -1, -1, 1, 1, 1});
}

TEST_CASE("AffineGrid turns, scales and moves") {
  CHECK(result_of("AffineGrid 1x2x3{0,2,5,-1,0,6} int64:{1,1,1,2} align_corners=1") ==
        Floats{5, 7, 5, 5});
  CHECK(result_of("AffineGrid 1x3x4{1,0,0,1,0,1,0,2,0,0,1,3} int64:{1,1,2,1,1} align_corners=1") ==
        Floats{1, 2, 2, 1, 2, 4});
}

TEST_CASE("AffineGrid knows empty grids") {
  CHECK(shape_of("AffineGrid 0x2x3 int64:{0,1,2,2}") == "0x2x2x2");
  CHECK(shape_of("AffineGrid 1x2x3 int64:{1,1,0,2}") == "1x0x2x2");
}

TEST_CASE("AffineGrid refuses sizes that do not fit") {
  CHECK_THROWS_AS(run_case("AffineGrid 1x2x3 int64:{2,1,2,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("AffineGrid 1x2x3 int64:{1,1,2,2,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("AffineGrid 2x3 int64:{1}"), ShapeError);
  CHECK_THROWS_AS(run_case("AffineGrid 1x2x3 int64:{1,1,-2,2}"), ValueError);
  CHECK_THROWS_AS(run_case("AffineGrid 1x2x3 int64:{1,1,4611686018427387904,4}"), ShapeError);
}

TEST_CASE("AffineGrid has a gradient of its matrix") {
  check_gradient("AffineGrid 2x2x3 int64:{2,1,3,4}", 1);
}

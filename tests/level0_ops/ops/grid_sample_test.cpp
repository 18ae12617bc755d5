// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("GridSample reads elements, what lies between them, and zeros outside") {
  const std::string line = "GridSample 1x1x1x3{2,4,8} 1x1x5x2{-1,0,-0.5,0,0,0,0.5,0,1.5,0} ";
  CHECK(result_of(line + "align_corners=1") == Floats{2, 3, 4, 6, 4});
  CHECK(result_of(line + "align_corners=1 padding_mode=border") == Floats{2, 3, 4, 6, 8});
  CHECK(result_of(line + "align_corners=1 padding_mode=reflection") == Floats{2, 3, 4, 6, 6});
  // 0.5, 1.5 and 2.5 are 0, 2 and 2: halves go to even.
  CHECK(result_of(line + "align_corners=1 mode=nearest") == Floats{2, 2, 4, 8, 8});
}

TEST_CASE("GridSample counts the corners of pixels or their centres") {
  const std::string line = "GridSample 1x1x1x2{2,4} 1x1x3x2{-1,0,0,0,0.5,0} ";
  CHECK(result_of(line) == Floats{1, 3, 4});
  CHECK(result_of(line + "align_corners=1") == Floats{2, 3, 3.5F});
}

TEST_CASE("GridSample takes other types, and moves all of them") {
  CHECK(result_of<std::int32_t>("GridSample int32:1x1x1x2{2,5} 1x1x1x2{0,0}") ==
        std::vector<std::int32_t>{4});
  CHECK(result_of<std::string>("GridSample string:1x1x1x2{a,b} 1x1x2x2{0.5,0,3,0} mode=nearest") ==
        std::vector<std::string>{"b", ""});
  CHECK(result_of<double>("GridSample float64:1x1x1x2{2,5} float16:1x1x1x2{0,0}") ==
        std::vector<double>{3.5});
  CHECK_THROWS_AS(run_case("GridSample string:1x1x1x2{a,b} 1x1x1x2"), Unsupported);
}

TEST_CASE("GridSample stays inside of its memory wherever the grid points to") {
  for (const std::string mode : {"nearest", "linear", "cubic"}) {
    for (const std::string padding : {"zeros", "border", "reflection"}) {
      for (const std::string place : {"nan", "inf", "-inf", "1e30", "-3e38"}) {
        const Floats y = result_of("GridSample 1x1x1x2{2,2} 1x1x1x2{" + place + ",0} mode=" + mode +
                                   " padding_mode=" + padding);
        CHECK((y == Floats{2} || y == Floats{0}));
      }
    }
  }
  CHECK(result_of("GridSample 1x1x1x1{5} 1x1x1x2{9,9} align_corners=1 padding_mode=reflection") ==
        Floats{5});
}

TEST_CASE("GridSample knows empty tensors") {
  CHECK(shape_of("GridSample 0x2x3x4 0x5x6x2") == "0x2x5x6");
  CHECK(shape_of("GridSample 1x2x3x4 1x0x6x2") == "1x2x0x6");
  CHECK_THROWS_AS(run_case("GridSample 1x2x0x4 1x5x6x2"), ShapeError);
}

TEST_CASE("GridSample refuses shapes and words that do not fit") {
  CHECK_THROWS_AS(run_case("GridSample 1x2x3x4 1x5x6x3"), ShapeError);
  CHECK_THROWS_AS(run_case("GridSample 1x2x3x4 2x5x6x2"), ShapeError);
  CHECK_THROWS_AS(run_case("GridSample 1x2 1x2"), ShapeError);
  CHECK_THROWS_AS(run_case("GridSample 1x1x1x1x1x1 1x1x1x1x1x4"), Unsupported);
  CHECK_THROWS_AS(run_case("GridSample 1x2x3x4 1x5x6x2 mode=bilinear"), ValueError);
  CHECK_THROWS_AS(run_case("GridSample@16 1x2x3x4 1x5x6x2 mode=linear"), ValueError);
}

TEST_CASE("GridSample has gradients of the tensor and of the grid") {
  check_gradient("GridSample 1x2x3x4 1x2x3x2 padding_mode=reflection", 2);
  check_gradient("GridSample 1x1x4x4 1x2x2x2 mode=cubic", 2);
}

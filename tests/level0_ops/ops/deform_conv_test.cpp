// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("DeformConv without offsets is Conv") {
  const std::string attributes = " group=2 strides=2x2 pads=1x0x1x1";
  CHECK(result_of("DeformConv 2x4x5x6 6x2x3x2 2x24x3x3%0 offset_group=2" + attributes) ==
        result_of("Conv 2x4x5x6 6x2x3x2" + attributes));
}

TEST_CASE("DeformConv moves each tap, weights it, and reads zeros outside") {
  // One tap: each position reads what its offset along the line points to.
  const std::string line = "DeformConv 1x1x3{2,4,8} 1x1x1{10} 1x1x3";
  CHECK(result_of(line + "{0.5,1,-0.25}") == Floats{30, 80, 70});
  CHECK(result_of(line + "{-0.5,-2,1.5} 1{1}") == Floats{11, 1, 1});
  CHECK(result_of(line + "{0,0,0} - 1x1x3{1,0.5,-1}") == Floats{20, 20, -80});
  for (const std::string offset : {"nan", "inf", "-inf", "1e30", "-3e38"}) {
    CHECK(result_of(line + "{" + offset + ",0,0}") == Floats{0, 40, 80});
  }
  // Rows come before columns.
  CHECK(result_of("DeformConv 1x1x2x2{1,2,4,8} 1x1x1x1{1} 1x2x2x2{1,0,0,0,0,0,0,-1}") ==
        Floats{4, 2, 4, 4});
}

TEST_CASE("DeformConv has offsets for each offset group, across groups") {
  const std::string x = "1x4x1{1,2,3,4} ";
  // Channels 0 and 1 are moved out, 2 and 3 stay.
  CHECK(result_of("DeformConv " + x + "1x4x1{1,1,1,1} 1x2x1{9,0} offset_group=2") == Floats{7});
  CHECK(result_of("DeformConv " + x + "4x1x1{1,1,1,1} 1x2x1{9,0} group=4 offset_group=2") ==
        Floats{0, 0, 3, 4});
  CHECK(result_of("DeformConv " + x + "2x2x1{1,1,1,1} 1x4x1{9,0,0,9} group=2 offset_group=4") ==
        Floats{2, 3});
}

TEST_CASE("DeformConv knows empty batches, and refuses what does not fit") {
  CHECK(shape_of("DeformConv 0x2x4x4 3x2x2x2 0x8x3x3") == "0x3x3x3");
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x4x3x3"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x4x4"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 2"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 - 1x8x3x3"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 offset_group=0"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x3x4x4 3x3x2x2 1x16x3x3 offset_group=2"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 group=0"), ValueError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 kernel_shape=3x3"), ShapeError);
  CHECK_THROWS_AS(run_case("DeformConv 1x2x4x4 3x2x2x2 1x8x3x3 pads=-1x0x0x0"), ValueError);
}

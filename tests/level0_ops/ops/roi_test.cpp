// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("RoiAlign takes the mean or the maximum of samples between the elements") {
  // Along a ramp a sample is its own place.
  const std::string line = " 1x1x2x4{0,1,2,3,0,1,2,3} 1x4{0,0,4,2} int64:1{0} output_width=2 ";
  CHECK(result_of("RoiAlign" + line + "sampling_ratio=1") == Floats{0.5, 2.5});
  CHECK(result_of("RoiAlign" + line) == Floats{0.5, 2.5});
  CHECK(result_of("RoiAlign" + line + "mode=max") == Floats{1, 3});
  CHECK(result_of("RoiAlign" + line +
                  "sampling_ratio=1 coordinate_transformation_mode=output_half_pixel") ==
        Floats{1, 3});
  CHECK(result_of("RoiAlign@10" + line + "sampling_ratio=1") == Floats{1, 3});
  CHECK(result_of("RoiAlign" + line + "sampling_ratio=1 spatial_scale=0.5") == Floats{0, 1});
}

TEST_CASE("RoiAlign is zero outside, whatever the size of the region") {
  const std::string line = "RoiAlign 1x1x2x2{1,1,1,1} ";
  CHECK(result_of(line + "1x4{10,10,12,12} int64:1{0}") == Floats{0});
  CHECK(result_of(line + "1x4{2,2,1,1} int64:1{0} mode=max") == Floats{0});  // turned round: empty
  CHECK(result_of(line + "1x4{-1e9,-1e9,1e9,1e9} int64:1{0}")[0] < 1e-16F);
  CHECK_THROWS_AS(run_case(line + "1x4{0,0,nan,1} int64:1{0}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "1x4{0,0,1e30,1} int64:1{0}"), ValueError);
}

TEST_CASE("RoiAlign knows empty tensors, and refuses what does not fit") {
  CHECK(shape_of("RoiAlign 1x2x4x4 0x4 int64:0 output_height=3 output_width=2") == "0x2x3x2");
  CHECK_THROWS_AS(run_case("RoiAlign 1x2x0x4 1x4 int64:1{0}"), ShapeError);
  CHECK_THROWS_AS(run_case("RoiAlign 1x2x4x4 1x5 int64:1{0}"), ShapeError);
  CHECK_THROWS_AS(run_case("RoiAlign 1x2x4x4 1x4 int64:2{0,0}"), ShapeError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{2}"), ValueError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{0} output_width=0"), ValueError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{0} sampling_ratio=-1"), ValueError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{0} sampling_ratio=99999"), ValueError);
  CHECK_THROWS_AS(run_case("RoiAlign 2x2x4x4 1x4 int64:1{0} mode=min"), ValueError);
}

TEST_CASE("MaxRoiPool takes the maximum of each bin, and bins share their borders") {
  const std::string line = "MaxRoiPool 1x1x4x4{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16} ";
  CHECK(result_of(line + "1x5{0,0,0,3,3} pooled_shape=2x2") == Floats{6, 8, 14, 16});
  CHECK(result_of(line + "1x5{0,0,0,2,2} pooled_shape=2x2") == Floats{6, 7, 10, 11});
  CHECK(result_of(line + "1x5{0,2,2,4,4} pooled_shape=1x1 spatial_scale=0.5") == Floats{11});
  // From the element -1, outside the data, to the element 0; then past the end.
  CHECK(result_of(line + "1x5{0,-1,0,0,0} pooled_shape=1x2") == Floats{0, 1});
  CHECK(result_of(line + "1x5{0,9,9,9,9} pooled_shape=1x1") == Floats{0});
}

TEST_CASE("MaxRoiPool knows empty tensors, and refuses what does not fit") {
  CHECK(shape_of("MaxRoiPool 1x2x4x4 0x5 pooled_shape=3x2") == "0x2x3x2");
  CHECK(result_of("MaxRoiPool 1x1x0x4 1x5{0,0,0,1,1} pooled_shape=1x1") == Floats{0});
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x2x4x4 1x4 pooled_shape=2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x4x4 1x5 pooled_shape=2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x2x4x4 1x5{0,0,0,1,1} pooled_shape=2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x2x4x4 1x5{0,0,0,1,1} pooled_shape=0x2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x2x4x4 1x5{1,0,0,1,1} pooled_shape=2x2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxRoiPool 1x2x4x4 1x5{0,0,0,nan,1} pooled_shape=2x2"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Resize repeats, skips and interpolates") {
  CHECK(result_of("Resize 3{1,2,3} - {2}") == Floats{1, 1, 2, 2, 3, 3});
  CHECK(result_of("Resize 4{1,2,3,4} - - int64:1{2}") == Floats{1, 3});
  CHECK(result_of("Resize 2{0,4} - {2} mode=linear") == Floats{0, 1, 3, 4});
  CHECK(result_of("Resize 2{0,4} - - int64:1{5} mode=linear "
                  "coordinate_transformation_mode=align_corners") == Floats{0, 1, 2, 3, 4});
  CHECK(result_of("Resize 4{1,3,5,7} - {0.5} mode=linear antialias=1 exclude_outside=1 "
                  "coordinate_transformation_mode=half_pixel")
            .size() == 2);
}

TEST_CASE("Resize rounds to the nearest element by nearest_mode") {
  const std::string line =
      "Resize 2{1,2} - {4} coordinate_transformation_mode=asymmetric nearest_mode=";
  CHECK(result_of(line + "floor") == Floats{1, 1, 1, 1, 2, 2, 2, 2});
  CHECK(result_of(line + "ceil") == Floats{1, 2, 2, 2, 2, 2, 2, 2});
  CHECK(result_of(line + "round_prefer_floor") == Floats{1, 1, 1, 2, 2, 2, 2, 2});
  CHECK(result_of(line + "round_prefer_ceil") == Floats{1, 1, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("Resize rounds integers to the nearest and keeps them in their range") {
  CHECK(result_of<std::int32_t>("Resize int32:2{0,5} - {2} mode=linear") ==
        std::vector<std::int32_t>{0, 1, 4, 5});
  // A cubic filter overshoots beside a step; 58 of 255 is 29/128, its weights at 3/4 and 7/4.
  CHECK(result_of<std::uint8_t>("Resize uint8:4{0,0,255,255} - {2} mode=cubic") ==
        std::vector<std::uint8_t>{0, 0, 0, 58, 197, 255, 255, 255});
}

TEST_CASE("Resize moves every type, but interpolates numbers alone") {
  CHECK(result_of<std::string>("Resize string:2{a,b} - {2}") ==
        std::vector<std::string>{"a", "a", "b", "b"});
  CHECK_THROWS_AS(run_case("Resize string:2{a,b} - {2} mode=linear"), Unsupported);
}

TEST_CASE("Resize has a crop, and a value for what lies outside of the input") {
  const std::string line =
      "Resize 3{1,2,3} {0,2} - int64:1{5} coordinate_transformation_mode=tf_crop_and_resize ";
  CHECK(result_of(line + "extrapolation_value=7") == Floats{1, 2, 3, 7, 7});
  CHECK(result_of(line + "mode=linear") == Floats{1, 2, 3, 0, 0});
  CHECK_THROWS_AS(
      run_case("Resize 3 - - int64:1{5} coordinate_transformation_mode=tf_crop_and_resize"),
      ShapeError);
}

// Compared with ONNX Runtime: versions that ONNX has no cases for.
TEST_CASE("Resize 10 counts from the corner and rounds away from the scale's side") {
  const std::string line = "Resize@10 1x1x2x4{1,2,3,4,5,6,7,8} ";
  CHECK(result_of(line + "{1,1,0.6,0.6}") == Floats{1, 3});
  CHECK(result_of(line + "{1,1,1,3}") ==
        Floats{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7, 8, 8, 8});
  const Floats linear = result_of(line + "{1,1,1,0.6} mode=linear");
  REQUIRE(linear.size() == 4);
  CHECK(linear[1] == Approx(2.6666665));
  CHECK(linear[3] == Approx(6.6666670));
}

TEST_CASE("Upsample has its scales in an attribute or an input") {
  const Floats repeated = {1, 1, 1, 2, 2, 3, 3, 3, 4, 4};
  CHECK(result_of("Upsample@7 1x4{1,2,3,4} scales=1x2.5") == repeated);
  CHECK(result_of("Upsample@9 1x4{1,2,3,4} {1,2.5}") == repeated);
  CHECK(shape_of("Upsample@7 1x2x3x4 scales=1x1x2x2.5 mode=linear") == "1x2x6x10");
  CHECK_THROWS_AS(run_case("Upsample@9 1x4 {1,0.5}"), ValueError);
}

TEST_CASE("Resize knows empty tensors") {
  CHECK(shape_of("Resize 0x3 - {2,2}") == "0x6");
  CHECK(shape_of("Resize 2x3 - - int64:{0,1000000000000} mode=linear") == "0x1000000000000");
  CHECK_THROWS_AS(run_case("Resize 0x3 - - int64:{1,3}"), ShapeError);
}

TEST_CASE("Resize refuses invalid sizes before anything is allocated") {
  CHECK_THROWS_AS(run_case("Resize 3 - {0}"), ValueError);
  CHECK_THROWS_AS(run_case("Resize 3 - {-1}"), ValueError);
  CHECK_THROWS_AS(run_case("Resize 3 - {1e30}"), ShapeError);
  CHECK_THROWS_AS(run_case("Resize 3 - {1e17}"), MemoryError);
  CHECK_THROWS_AS(run_case("Resize 3 - {2} int64:1{6}"), ShapeError);
  CHECK_THROWS_AS(run_case("Resize 3"), ShapeError);
  CHECK_THROWS_AS(run_case("Resize 3 - {2,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("Resize 3x3 - {2,2} axes=0x0"), ValueError);
  CHECK_THROWS_AS(run_case("Resize 3 - {2} antialias=1"), ValueError);
  CHECK_THROWS_WITH(run_case("Resize 3 - {2} mode=area"),
                    "Resize 'output0': mode is 'area', expected one of nearest, linear, cubic");
}

TEST_CASE("Resize's gradient adds up what was spread; sizes and crops have none") {
  check_gradient("Resize 1x2x3x4 - {1,1,2,0.6} mode=linear", 1);
  check_gradient(
      "Resize 1x2x3 {0,0,-0.2,1,1,0.7} - int64:{1,2,4} "
      "coordinate_transformation_mode=tf_crop_and_resize",
      1);
}

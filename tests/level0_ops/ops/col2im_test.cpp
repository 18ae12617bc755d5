// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Col2Im adds up what blocks have in common") {
  // Two blocks of 1x2 over an image of 1x3: the middle is in both.
  const std::string image = " int64:{1,3} int64:{1,2}";
  CHECK(result_of("Col2Im 1x2x2{1,2,10,20}" + image) == Floats{1, 12, 20});
  CHECK(result_of<std::uint8_t>("Col2Im uint8:1x2x2{1,2,10,20}" + image) ==
        std::vector<std::uint8_t>{1, 12, 20});
  CHECK(result_of<bool>("Col2Im bool:1x2x2{1,0,1,0}" + image) ==
        std::vector<bool>{true, true, false});
}

TEST_CASE("Col2Im leaves padding and gaps out") {
  CHECK(result_of("Col2Im 1x1x3{1,2,3} int64:{1,1} int64:{1,1} pads=0x1x0x1") == Floats{2});
  CHECK(result_of("Col2Im 1x1x2{1,2} int64:{1,4} int64:{1,1} strides=1x3") == Floats{1, 0, 0, 2});
  CHECK(result_of("Col2Im 1x2x1{1,2} int64:{1,4} int64:{1,2} dilations=1x3") == Floats{1, 0, 0, 2});
}

TEST_CASE("Col2Im adds small floats up as wide ones") {
  // 2048 + 1 + 1 in float16 alone would stay 2048.
  const auto y = run_case("Col2Im float16:1x3x3{0,0,2048,0,1,0,1,0,0} int64:{1,5} int64:{1,3}");
  CHECK(float(y.output(0).tensor().data<Float16>()[2]) == 2050);
}

TEST_CASE("Col2Im's integers wrap around") {
  CHECK(result_of<std::int32_t>("Col2Im int32:1x2x2{1,2147483647,1,3} int64:{1,3} int64:{1,2}") ==
        std::vector<std::int32_t>{1, -2147483648, 3});
}

TEST_CASE("Col2Im knows empty tensors") {
  CHECK(shape_of("Col2Im 0x4x2 int64:{1,3} int64:{1,2}") == "0x2x1x3");
  CHECK(shape_of("Col2Im 1x0x2 int64:{1,3} int64:{1,2}") == "1x0x1x3");
}

TEST_CASE("Col2Im refuses blocks that do not fit") {
  CHECK_THROWS_AS(run_case("Col2Im 1x3x2 int64:{1,3} int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x3 int64:{1,3} int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("Col2Im 2x2 int64:{1,3} int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x2 int64:{1,3} int64:{1,2,1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x2 int64:{1,-3} int64:{1,2}"), ValueError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x2 int64:{1,3} int64:{0,2}"), ValueError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x2 int64:{1,4611686018427387904} int64:{1,2}"), ValueError);
  CHECK_THROWS_AS(run_case("Col2Im 1x2x2 int64:{1,3} int64:{1,2} strides=0x1"), ValueError);
  CHECK_THROWS_AS(run_case("Col2Im string:1x1x1{a} int64:{1,1} int64:{1,1}"), Unsupported);
}

TEST_CASE("Col2Im's gradient cuts into blocks") {
  check_gradient("Col2Im 2x8x6 int64:{3,4} int64:{2,2}", 1);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("ConvTranspose spreads each element over a window") {
  CHECK(result_of("ConvTranspose 1x1x2{1,10} 1x1x3{1,2,3}") == Floats{1, 12, 23, 30});
  CHECK(result_of("ConvTranspose 1x1x2{1,10} 1x1x2{1,2} strides=3") == Floats{1, 2, 0, 10, 20});
  CHECK(result_of("ConvTranspose 1x1x2{1,10} 1x1x2{1,2} dilations=2") == Floats{1, 10, 2, 20});
  CHECK(result_of("ConvTranspose 1x1x1{1} 1x2x1{3,4} {10,20}") == Floats{13, 24});
}

TEST_CASE("ConvTranspose's pads cut, and output_padding adds at the end") {
  const std::string line = "ConvTranspose 1x1x2{1,10} 1x1x3{1,2,3} strides=2 ";
  CHECK(result_of(line) == Floats{1, 2, 13, 20, 30});
  CHECK(result_of(line + "pads=1x1") == Floats{2, 13, 20});
  CHECK(result_of(line + "output_padding=1") == Floats{1, 2, 13, 20, 30, 0});
  CHECK(result_of(line + "auto_pad=SAME_UPPER") == Floats{1, 2, 13, 20});
  CHECK(result_of(line + "auto_pad=SAME_LOWER") == Floats{2, 13, 20, 30});
  CHECK(result_of(line + "output_shape=3") == Floats{2, 13, 20});
}

TEST_CASE("ConvTranspose's gradients agree with central differences") {
  check_gradient("ConvTranspose 2x3x3x4 3x2x3x2 2", 3);
  check_gradient("ConvTranspose 2x4x3x3 4x2x2x3 4 group=2 strides=2x1 pads=1x0x0x1", 3);
  check_gradient("ConvTranspose 1x2x4 2x2x3 2 dilations=2 strides=3 output_padding=2", 3);
  check_gradient("ConvTranspose 1x2x2x3x2 2x1x2x2x2", 2);
}

TEST_CASE("ConvTranspose refuses what does not fit") {
  CHECK_THROWS_AS(run_case("ConvTranspose 1x2x3 3x1x2"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x2x3 2x1x2 2"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x3x3 3x1x2 group=2"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x1x3 1x1x2 pads=2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x1x3 1x1x2 group=0"), ValueError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x3x3 3x3x2 group=9223372036854775807"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x1x3 1x1x2 output_padding=-1"), ValueError);
  CHECK_THROWS_AS(run_case("ConvTranspose 1x1x3 1x1x2 auto_pad=SOME"), ValueError);
}

TEST_CASE("ConvTranspose's work is a product and a sum for each weight and position") {
  CHECK(run_case("ConvTranspose 1x1x2 1x1x3").cost().flop == 2 * 2 * 3);
  CHECK(run_case("ConvTranspose 1x1x2 1x1x3 1").cost().flop == 2 * 2 * 3 + 4);
}

TEST_CASE("ConvTranspose takes a whole output_shape") {
  const std::string line = "ConvTranspose 1x1x2{1,10} 1x1x3{1,2,3} strides=2 ";
  CHECK(result_of(line + "output_shape=1x1x3") == Floats{2, 13, 20});
  CHECK_THROWS_AS(run_case(line + "output_shape=1x3"), ShapeError);
}

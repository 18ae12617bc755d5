// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("AveragePool takes the mean under its window") {
  CHECK(result_of("AveragePool 1x1x2x3{1,2,3,4,5,6} kernel_shape=2x2") == Floats{3, 4});
  CHECK(result_of("AveragePool 1x1x5{1,2,3,4,9} kernel_shape=2 dilations=3") == Floats{2.5, 5.5});
}

TEST_CASE("padding counts only where it is asked for") {
  const std::string line = "AveragePool 1x1x2{2,4} kernel_shape=2 pads=1x1 ";
  CHECK(result_of(line) == Floats{2, 3, 4});
  CHECK(result_of(line + "count_include_pad=1") == Floats{1, 3, 2});
}

TEST_CASE("what a partial last window covers past the padding never counts") {
  // Windows at 0 and 2; the second covers positions 2, 3 (padding) and 4 (nothing).
  const std::string line =
      "AveragePool 1x1x3{2,4,6} kernel_shape=3 strides=2 pads=0x1 ceil_mode=1 ";
  CHECK(result_of(line + "count_include_pad=1") == Floats{4, 3});
  CHECK(result_of(line) == Floats{4, 6});
}

TEST_CASE("GlobalAveragePool takes the mean of each channel") {
  CHECK(result_of("GlobalAveragePool 1x2x2x2{1,2,3,4,10,20,30,40}") == Floats{2.5, 25});
}

TEST_CASE("LpPool takes the norm under its window") {
  CHECK(result_of("LpPool 1x1x3{3,-4,0} kernel_shape=2") == Floats{5, 4});
  CHECK(result_of("LpPool 1x1x2{3,-4} kernel_shape=2 p=1") == Floats{7});
  CHECK(result_of("GlobalLpPool 1x1x2x2{1,-1,1,-1}") == Floats{2});
}

TEST_CASE("the gradients of mean and norm pooling agree with central differences") {
  check_gradient("AveragePool 2x2x5x4 kernel_shape=2x3", 1);
  check_gradient("AveragePool 1x2x6x5 kernel_shape=3x2 strides=2x2 pads=1x0x1x1 ceil_mode=1", 1);
  check_gradient("AveragePool 1x2x5x5 kernel_shape=2x2 pads=1x1x1x1 count_include_pad=1", 1);
  check_gradient("AveragePool 1x1x3x4x4 kernel_shape=2x2x2 auto_pad=SAME_LOWER", 1);
  check_gradient("GlobalAveragePool 2x3x4x5", 1);
  check_gradient("LpPool 1x2x4x5 kernel_shape=2x2 p=3", 1);
  check_gradient("GlobalLpPool 2x2x3", 1);
}

TEST_CASE("mean and norm pooling refuse what has no meaning") {
  CHECK_THROWS_AS(run_case("AveragePool 1x1x3x3 kernel_shape=2"), ShapeError);
  CHECK_THROWS_AS(run_case("AveragePool 1x1x3"), FormatError);
  CHECK_THROWS_AS(run_case("AveragePool 1x1x3 kernel_shape=-2"), ValueError);
  CHECK_THROWS_AS(run_case("GlobalAveragePool 3x3"), ShapeError);
  CHECK_THROWS_AS(run_case("LpPool 1x1x3 kernel_shape=2 p=0"), ValueError);
}

TEST_CASE("pooling does one operation for each element under a window, norms two") {
  CHECK(run_case("AveragePool 1x2x6 kernel_shape=2").cost().flop == 2 * 5 * 2);
  CHECK(run_case("LpPool 1x2x6 kernel_shape=2").cost().flop == 2 * 5 * 2 * 2);
}

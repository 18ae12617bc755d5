// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("NhwcConv has its channels at the end, of weights too") {
  // Places {1, 2} and {3, 4}; a filter {1, 1}, one {1, -1}.
  CHECK(result_of("com.microsoft.NhwcConv 1x1x2x2{1,2,3,4} 2x1x1x2{1,1,1,-1} {0,10}") ==
        Floats{3, 9, 7, 9});
  // A window of two places: {1, 2} {3, 4} with {1, 0} {0, 1}.
  CHECK(result_of("com.microsoft.NhwcConv 1x1x2x2{1,2,3,4} 1x1x2x2{1,0,0,1}") == Floats{5});
  CHECK(shape_of("com.microsoft.NhwcConv 2x5x6x4 8x3x3x2 group=2 pads=1x1x1x1") == "2x5x6x8");
}

TEST_CASE("NhwcMaxPool takes the largest of each channel") {
  CHECK(result_of<std::uint8_t>(
            "com.microsoft.NhwcMaxPool uint8:1x1x2x2{1,9,3,4} kernel_shape=1x2") ==
        std::vector<std::uint8_t>{3, 9});
}

TEST_CASE("QLinearConv has its channels where channels_last puts them") {
  const std::string end =
      " scalar{0.5} uint8:scalar{0} int8:1x2x1x1{1,2} scalar{1} int8:scalar{0} scalar{0.5} "
      "uint8:scalar{3}";
  // Places {1, 2} and {3, 4}: 1 + 4 and 3 + 8.
  CHECK(result_of<std::uint8_t>("com.microsoft.QLinearConv uint8:1x1x2x2{1,2,3,4}" + end +
                                " channels_last=1") == std::vector<std::uint8_t>{8, 14});
  CHECK(result_of<std::uint8_t>("com.microsoft.QLinearConv uint8:1x2x1x2{1,3,2,4}" + end) ==
        std::vector<std::uint8_t>{8, 14});
}

TEST_CASE("images without a dimension of channels are refused") {
  CHECK_THROWS_AS(run_case("com.microsoft.NhwcConv 4 1x1x1x4"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.NhwcConv 1x2x2x3 1x1x1x4"), ShapeError);
}

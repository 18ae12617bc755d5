// SPDX-License-Identifier: Apache-2.0
#include "tests/level0_ops/run_case.hpp"

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Conv slides its window over the input") {
  CHECK(result_of("Conv 1x1x3x3{1,2,3,4,5,6,7,8,9} 1x1x2x2{1,0,0,1}") == Floats{6, 8, 12, 14});
  // The kernel is not flipped: this is what the field calls a convolution.
  CHECK(result_of("Conv 1x1x4{1,2,3,4} 1x1x2{10,1}") == Floats{12, 23, 34});
}

TEST_CASE("Conv adds one bias a filter") {
  CHECK(result_of("Conv 1x1x2{1,2} 2x1x1{1,10} {0.5,-1}") == Floats{1.5, 2.5, 9, 19});
}

TEST_CASE("Conv pads with zeros, strides and dilates") {
  CHECK(result_of("Conv 1x1x3{1,2,3} 1x1x3{1,1,1} pads=1x1") == Floats{3, 6, 5});
  CHECK(result_of("Conv 1x1x5{1,2,3,4,5} 1x1x2{1,1} strides=2") == Floats{3, 7});
  CHECK(result_of("Conv 1x1x5{1,2,3,4,5} 1x1x2{1,1} dilations=3") == Floats{5, 7});
  CHECK(result_of("Conv 1x1x4{1,2,3,4} 1x1x3{1,1,1} auto_pad=SAME_UPPER strides=2") ==
        Floats{6, 7});
  CHECK(result_of("Conv 1x1x4{1,2,3,4} 1x1x3{1,1,1} auto_pad=SAME_LOWER strides=2") ==
        Floats{3, 9});
  CHECK(result_of("Conv 1x1x4{1,2,3,4} 1x1x3{1,1,1} auto_pad=VALID") == Floats{6, 9});
}

TEST_CASE("Conv keeps groups apart") {
  CHECK(result_of("Conv 1x2x2{1,2,3,4} 2x1x1{10,100} group=2") == Floats{10, 20, 300, 400});
}

TEST_CASE("Conv of an empty batch is empty") { CHECK(result_of("Conv 0x1x3x3 2x1x2x2").empty()); }

TEST_CASE("Conv's gradients agree with central differences") {
  check_gradient("Conv 2x2x4x5 3x2x3x2 3", 3);
  check_gradient("Conv 1x2x6x5 2x2x3x3 2 pads=1x2x0x1 strides=2x3", 3);
  check_gradient("Conv 1x2x7x6 2x2x2x3 pads=1x1x1x1 dilations=2x2", 2);
  check_gradient("Conv 2x4x3x3 6x2x2x2 6 group=2 strides=2x1 pads=1x0x0x1", 3);
  check_gradient("Conv 1x3x4x4 3x1x3x3 3 group=3 auto_pad=SAME_UPPER", 3);
  check_gradient("Conv 2x3x3x3 4x3x1x1 4", 3);
  check_gradient("Conv 2x2x9 3x2x3 3 strides=2 dilations=2 pads=3x1", 3);
  check_gradient("Conv 1x2x3x4x3 2x2x2x2x2 2 pads=1x0x1x0x1x0 strides=1x2x1", 3);
  check_gradient("Conv 3x4x20x20 8x4x5x5 8 pads=2x2x2x2", 3);  // by projections
}

TEST_CASE("Conv does not depend on the number of threads beyond rounding") {
  const std::string line = "Conv 3x4x27x29 12x2x3x3 12 group=2 pads=1x1x1x1";
  const int before = threads();
  set_threads(1);
  const auto one = run_case(line);
  set_threads(4);
  const auto four = run_case(line);
  set_threads(before);
  CHECK(compare_values(four.output(0), one.output(0), {}).equal);
}

TEST_CASE("Conv knows its work") {
  // 2 samples, 8 filters, 4x4 outputs, 27 products and sums each
  CHECK(run_case("Conv 2x3x6x6 8x3x3x3").cost().flop == 2 * 8 * 16 * 27 * 2);
}

TEST_CASE("Conv refuses sizes that do not fit") {
  CHECK_THROWS_AS(run_case("Conv 1x3x5x5 4x2x3x3"), ShapeError);          // channels
  CHECK_THROWS_AS(run_case("Conv 1x4x5x5 3x2x3x3 group=2"), ShapeError);  // filters
  CHECK_THROWS_AS(run_case("Conv 1x3x5x5 4x3x3"), ShapeError);            // ranks
  CHECK_THROWS_AS(run_case("Conv 1x3x5x5 4x3x3x3 5"), ShapeError);        // bias
  CHECK_THROWS_AS(run_case("Conv 1x1x2x2 1x1x3x3"), ShapeError);          // window too large
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 kernel_shape=2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 strides=1"), ShapeError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 pads=1x1"), ShapeError);
}

TEST_CASE("Conv refuses attributes outside their range") {
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 group=0"), ValueError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 strides=0x1"), ValueError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 dilations=1x-1"), ValueError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 pads=0x0x0x-1"), ValueError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 kernel_shape=4611686018427387904x1"), ValueError);
  CHECK_THROWS_AS(run_case("Conv 1x1x5x5 1x1x3x3 auto_pad=SOME"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("GroupNorm normalises groups of the channels at the end") {
  // Two places of four channels; group 0 is {1, 3, 1, 3}, group 1 {10, 30, 30, 10}.
  const std::string line = "com.microsoft.GroupNorm 1x1x2x4{1,3,10,30,1,3,30,10} ";
  CHECK(result_of(line + "{1,1,1,1} {0,0,0,0} groups=2 activation=0 epsilon=0.0") ==
        Floats{-1, 1, -1, 1, -1, 1, 1, -1});
  CHECK(result_of(line + "{1,2,3,4} {5,0,0,0} groups=2 activation=0 epsilon=0.0") ==
        Floats{4, 2, -3, 4, 4, 2, 3, -4});
  // Swish(2) = 2 / (1 + exp(-2))
  const Floats swish = result_of(line + "{2,2,2,2} {0,0,0,0} groups=2 activation=1 epsilon=0.0");
  CHECK(swish[1] == Approx(1.7615942));
  CHECK(swish[0] == Approx(-0.2384058));
}

TEST_CASE("GroupNorm with channels behind the sample is GroupNormalization") {
  CHECK(result_of("com.microsoft.GroupNorm 2x4x3x2 4 4 groups=2 activation=0 channels_last=0") ==
        result_of("GroupNormalization 2x4x3x2 4 4 num_groups=2"));
}

TEST_CASE("SkipGroupNorm normalises a sum and gives it back") {
  const std::string line = "com.microsoft.SkipGroupNorm 1x1x2x2{0,1,1,2} {1,1} {0,0} ";
  const std::string end = " groups=1 activation=0 epsilon=0.0 outputs=2";
  // {0,1,1,2} + {1,2,1,2} + {1,0}
  CHECK(result_of(line + "1x1x2x2{1,2,1,2} {1,0}" + end, 1) == Floats{2, 3, 3, 4});
  const float r = std::sqrt(2.0F);
  const Floats y = result_of(line + "1x1x2x2{1,2,1,2} {1,0}" + end);
  CHECK(y[0] == Approx(-r));
  CHECK(y[1] == Approx(0).margin(1e-6));
  // The same for all places of a sample.
  CHECK(result_of(line + "1x2{5,6}" + end, 1) == Floats{5, 7, 6, 8});
  CHECK(shape_of(line + "1x2{5,6}" + end) == "1x1x2x2");
}

TEST_CASE("GroupNorm refuses what has no groups, no such activation and no such skip") {
  CHECK_THROWS_AS(run_case("com.microsoft.GroupNorm 1x2x2x4 4 4 groups=3 activation=0"),
                  ValueError);
  CHECK_THROWS_AS(run_case("com.microsoft.GroupNorm 1x2x2x4 4 4 groups=2 activation=2"),
                  ValueError);
  CHECK_THROWS_AS(run_case("com.microsoft.GroupNorm 4 4 4 groups=2 activation=0"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.GroupNorm 1x2x2x4 4 3 groups=2 activation=0"),
                  ShapeError);
  const std::string skip = "com.microsoft.SkipGroupNorm 1x2x2x4 4 4 ";
  CHECK_THROWS_AS(run_case(skip + "2x2x2x4 groups=2 activation=0"), ShapeError);
  CHECK_THROWS_AS(run_case(skip + "1x2x2x4 groups=2 activation=0 channels_last=0"), Unsupported);
}

// SPDX-License-Identifier: Apache-2.0
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

TEST_CASE("QLinearWhere brings both operands to the scale of the result") {
  // X is {0, 0.5, 1}, Y {1.5, 1.25, 1}
  CHECK(result_of<std::uint8_t>(
            "com.microsoft.QLinearWhere bool:{1,0,1} uint8:{1,2,3} scalar{0.5} uint8:scalar{1} "
            "uint8:{9,8,7} scalar{0.25} uint8:scalar{3} scalar{0.125} uint8:scalar{10}") ==
        std::vector<std::uint8_t>{10, 20, 18});
}

TEST_CASE("QLinearReduceMean quantizes a mean") {
  // {1, 2} and {3, 6} at a scale of 2: means 3 and 9.
  CHECK(result_of<std::int8_t>("com.microsoft.QLinearReduceMean int8:2x2{1,2,3,6} scalar{2} - "
                               "scalar{1} int8:scalar{-1} axes=1 keepdims=0") ==
        std::vector<std::int8_t>{2, 8});
  CHECK(shape_of("com.microsoft.QLinearReduceMean int8:2x2 scalar{2} - scalar{1} axes=1 "
                 "keepdims=1") == "2x1");
}

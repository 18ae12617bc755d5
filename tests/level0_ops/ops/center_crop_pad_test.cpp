// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("CenterCropPad keeps the middle; of an odd rest the larger part is behind") {
  CHECK(result_of("CenterCropPad {1,2,3,4,5} int64:{2}") == Floats{2, 3});
  CHECK(result_of("CenterCropPad {1,2,3,4,5} int64:{3}") == Floats{2, 3, 4});
  CHECK(result_of("CenterCropPad {1,2} int32:{5}") == Floats{0, 1, 2, 0, 0});
}

TEST_CASE("CenterCropPad crops one dimension and pads another") {
  CHECK(result_of("CenterCropPad 3x2{1,2,3,4,5,6} int64:{1,3}") == Floats{3, 4, 0});
  CHECK(result_of("CenterCropPad 3x2{1,2,3,4,5,6} int64:{3} axes=-1") ==
        Floats{1, 2, 0, 3, 4, 0, 5, 6, 0});
  CHECK(result_of<std::string>("CenterCropPad string:{a} int64:{2}") ==
        std::vector<std::string>{"a", ""});
}

TEST_CASE("CenterCropPad takes empty tensors and makes them") {
  CHECK(result_of("CenterCropPad 2x0 int64:{1,2}") == Floats{0, 0});
  CHECK(shape_of("CenterCropPad 2x3 int64:{5,0}") == "5x0");
}

TEST_CASE("CenterCropPad refuses sizes and axes that do not fit") {
  CHECK_THROWS_AS(run_case("CenterCropPad 2x3 int64:{2}"), ShapeError);
  CHECK_THROWS_AS(run_case("CenterCropPad 2x3 int64:{2,-1}"), ValueError);
  CHECK_THROWS_AS(run_case("CenterCropPad 2x3 int64:{2} axes=2"), ValueError);
  CHECK_THROWS_AS(run_case("CenterCropPad 2x3x4 int64:{9223372036854775806,256} axes=1x0"),
                  ShapeError);
  CHECK_THROWS_AS(run_case("CenterCropPad 2x3 int64:{2,2} axes=1x-1"), ValueError);
}

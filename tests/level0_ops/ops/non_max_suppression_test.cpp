// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Integers = std::vector<std::int64_t>;

namespace {

/// Boxes 0 and 1 share a third of their union; box 2 lies elsewhere.
const std::string kBoxes = "NonMaxSuppression 1x3x4{0,0,1,2,0,1,1,3,5,5,6,6} 1x1x3";

}  // namespace

TEST_CASE("NonMaxSuppression drops what overlaps more than the threshold") {
  CHECK(result_of<std::int64_t>(kBoxes + "{0.5,0.9,0.7} int64:{9} {0.3}") ==
        Integers{0, 0, 1, 0, 0, 2});
  CHECK(result_of<std::int64_t>(kBoxes + "{0.5,0.9,0.7} int64:{9} {0.4}") ==
        Integers{0, 0, 1, 0, 0, 2, 0, 0, 0});
}

TEST_CASE("NonMaxSuppression chooses no more than the given number, none by default") {
  CHECK(result_of<std::int64_t>(kBoxes + "{0.5,0.9,0.7} int64:{1} {0.4}") == Integers{0, 0, 1});
  CHECK(shape_of(kBoxes) == "0x3");
  CHECK(shape_of(kBoxes + " int64:{-1}") == "0x3");
}

TEST_CASE("NonMaxSuppression takes scores above the threshold alone") {
  CHECK(result_of<std::int64_t>(kBoxes + "{0.5,0.9,0.7} int64:{9} {0} {0.7}") == Integers{0, 0, 1});
}

TEST_CASE("NonMaxSuppression takes the first of equal scores, and a NaN last") {
  CHECK(result_of<std::int64_t>(kBoxes + "{nan,0.5,0.5} int64:{9} {1}") ==
        Integers{0, 0, 1, 0, 0, 2, 0, 0, 0});
}

TEST_CASE("NonMaxSuppression takes boxes by their centre, and corners in any order") {
  const std::string scores = " 1x1x2{0.5,0.9} int64:{9} {0.3}";
  CHECK(result_of<std::int64_t>("NonMaxSuppression@11 1x2x4{1,0.5,2,1,2,0.5,2,1}" + scores +
                                " center_point_box=1") == Integers{0, 0, 1});
  CHECK(result_of<std::int64_t>("NonMaxSuppression@10 1x2x4{1,2,0,0,0,3,1,1}" + scores) ==
        Integers{0, 0, 1});
}

TEST_CASE("NonMaxSuppression knows empty tensors") {
  CHECK(shape_of("NonMaxSuppression 0x3x4 0x2x3 int64:{1}") == "0x3");
  CHECK(shape_of("NonMaxSuppression 1x0x4 1x2x0 int64:{1}") == "0x3");
}

TEST_CASE("NonMaxSuppression refuses boxes and scores that do not fit") {
  CHECK_THROWS_AS(run_case("NonMaxSuppression 1x3x4 1x2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("NonMaxSuppression 1x3x5 1x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("NonMaxSuppression 1x3x4 1x2x3 int64:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("NonMaxSuppression 1x3x4 1x2x3 center_point_box=2"), ValueError);
}

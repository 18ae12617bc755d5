// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("CDist gives the distance of every row to every other") {
  const std::string line = "com.microsoft.CDist 2x2{0,0,3,4} 3x2{0,0,3,4,0,1} metric=";
  CHECK(result_of(line + "sqeuclidean") == Floats{0, 25, 1, 25, 0, 18});
  CHECK(result_of(line + "euclidean") == Floats{0, 5, 1, 5, 0, std::sqrt(18.0F)});
  CHECK(result_of("com.microsoft.CDist 1x1{1} 1x1{3}") == Floats{4});
  CHECK(shape_of("com.microsoft.CDist 0x3 2x3") == "0x2");
  CHECK(result_of("com.microsoft.CDist 1x0 2x0") == Floats{0, 0});
}

TEST_CASE("CDist has no slope where rows are the same") {
  GradientOptions options;
  check_gradient("com.microsoft.CDist 3x4 2x4 metric=euclidean", 2, options);
}

TEST_CASE("CDist refuses rows of other sizes and other distances") {
  CHECK_THROWS_AS(run_case("com.microsoft.CDist 2x3 2x4"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.CDist 3 2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.CDist 2x3 2x3 metric=cosine"), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("CumSum adds up what stands before, with or without the element itself") {
  const std::string line = "CumSum {1,2,4} int64:scalar{0} ";
  CHECK(result_of(line) == Floats{1, 3, 7});
  CHECK(result_of(line + "exclusive=1") == Floats{0, 1, 3});
  CHECK(result_of(line + "reverse=1") == Floats{7, 6, 4});
  CHECK(result_of(line + "exclusive=1 reverse=1") == Floats{6, 4, 0});
}

TEST_CASE("CumProd multiplies what stands before, with or without the element itself") {
  const std::string line = "CumProd {2,3,5} int32:scalar{-1} ";
  CHECK(result_of(line) == Floats{2, 6, 30});
  CHECK(result_of(line + "exclusive=1") == Floats{1, 2, 6});
  CHECK(result_of(line + "reverse=1") == Floats{30, 15, 5});
  CHECK(result_of(line + "exclusive=1 reverse=1") == Floats{15, 5, 1});
}

TEST_CASE("the axis may be any, and counted from the back") {
  const std::string x = " 2x3{1,2,3,4,5,6} int64:";
  CHECK(result_of("CumSum" + x + "scalar{0}") == Floats{1, 2, 3, 5, 7, 9});
  CHECK(result_of("CumSum" + x + "{1}") == Floats{1, 3, 6, 4, 9, 15});
  CHECK(result_of("CumProd" + x + "scalar{-2} reverse=1") == Floats{4, 10, 18, 4, 5, 6});
  CHECK_THROWS_AS(run_case("CumSum" + x + "scalar{2}"), ValueError);
  CHECK_THROWS_AS(run_case("CumSum" + x + "{0,1}"), ShapeError);
  CHECK_THROWS_AS(run_case("CumSum scalar int64:scalar{0}"), ValueError);
}

TEST_CASE("integers wrap around, and nothing is left of nothing") {
  CHECK(result_of<std::uint32_t>("CumSum uint32:{4294967295,2} int64:scalar{0}") ==
        std::vector<std::uint32_t>{4294967295, 1});
  CHECK(result_of<std::int32_t>("CumProd int32:{65536,65536,3} int64:scalar{0}") ==
        std::vector<std::int32_t>{65536, 0, 0});
  CHECK(shape_of("CumSum 2x0 int64:scalar{1} exclusive=1") == "2x0");
  CHECK(shape_of("CumProd 0x2 int64:scalar{1}") == "0x2");
}

TEST_CASE("CumProd's gradient does not divide by a factor that is zero") {
  check_gradient("CumProd {2,0,3,4} int64:scalar{0}", 1);
  check_gradient("CumProd {2,0,3,0} int64:scalar{0} exclusive=1 reverse=1", 1);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("OneHot makes a line of each index, along a new axis") {
  CHECK(result_of("OneHot int64:{2,-3} int64:scalar{3} {0,1}") == Floats{0, 0, 1, 1, 0, 0});
  CHECK(result_of("OneHot int64:{2,-3} int64:{3} {5,6} axis=0") == Floats{5, 6, 5, 5, 6, 5});
  CHECK(shape_of("OneHot int64:2x3 int64:scalar{4} {0,1} axis=1") == "2x4x3");
  CHECK(result_of<std::string>("OneHot uint8:scalar{1} scalar{2} string:{no,yes}") ==
        std::vector<std::string>{"no", "yes"});
}

TEST_CASE("OneHot has no place for indices out of range, of whatever type they are") {
  CHECK(result_of("OneHot int64:{3,-4} int64:scalar{3} {0,1}") == Floats(6, 0.0f));
  CHECK(result_of("OneHot uint64:{18446744073709551615} int64:scalar{2} {0,1}") == Floats(2, 0.0f));
  CHECK(result_of("OneHot {nan,inf,-inf,1e30} int64:scalar{1} {0,1}") == Floats(4, 0.0f));
}

TEST_CASE("OneHot cuts indices and depths that are reals towards zero") {
  CHECK(result_of("OneHot {1.9,-0.9,-1.9,-2.9} scalar{2.5} {0,1}") ==
        Floats{0, 1, 1, 0, 0, 1, 1, 0});
  CHECK(result_of("OneHot {-3} scalar{2} {0,1}") == Floats{0, 0});
}

TEST_CASE("OneHot takes no indices, and a depth of nothing") {
  CHECK(shape_of("OneHot int64:0x2 int64:scalar{3} {0,1}") == "0x2x3");
  CHECK(shape_of("OneHot int64:2 int64:scalar{0} {0,1}") == "2x0");
}

TEST_CASE("OneHot refuses invalid depths and values") {
  CHECK_THROWS_AS(run_case("OneHot int64:2 int64:scalar{-1} {0,1}"), ValueError);
  CHECK_THROWS_AS(run_case("OneHot int64:2 scalar{nan} {0,1}"), ValueError);
  CHECK_THROWS_AS(run_case("OneHot int64:2 int64:{1,2} {0,1}"), ShapeError);
  CHECK_THROWS_AS(run_case("OneHot int64:2 int64:scalar{2} {0,1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("OneHot int64:2 int64:scalar{2} {0,1} axis=2"), ValueError);
  CHECK_THROWS_AS(run_case("OneHot int64:2 int64:scalar{9223372036854775807} {0,1}"), Error);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("GatherElements takes along the axis where each index says") {
  const std::string line = "GatherElements 3x2{1,2,3,4,5,6} int32:2x2{0,2,-1,1} ";
  CHECK(result_of(line) == Floats{1, 6, 5, 4});
  CHECK(result_of("GatherElements 2x3{1,2,3,4,5,6} int64:2x2{0,2,-1,1} axis=-1") ==
        Floats{1, 3, 6, 5});
}

TEST_CASE("GatherElements takes fewer along other dimensions, none, and strings") {
  CHECK(result_of("GatherElements 2x3{1,2,3,4,5,6} int64:3x1{1,0,1}") == Floats{4, 1, 4});
  CHECK(shape_of("GatherElements 2x3 int64:0x3") == "0x3");
  CHECK(result_of<std::string>("GatherElements string:{a,b,c} int64:{2,-3}") ==
        std::vector<std::string>{"c", "a"});
}

TEST_CASE("GatherND takes elements or slices at coordinates") {
  const std::string line = "GatherND 2x2x2{0,1,2,3,4,5,6,7} ";
  CHECK(result_of(line + "int64:2x3{0,1,1,-1,0,0}") == Floats{3, 4});
  CHECK(result_of(line + "int64:2x2{0,1,1,0}") == Floats{2, 3, 4, 5});
  CHECK(result_of(line + "int64:2x1x1{1,-2}") == Floats{4, 5, 6, 7, 0, 1, 2, 3});
  CHECK(shape_of(line + "int64:2x1x1{1,0}") == "2x1x2x2");
}

TEST_CASE("GatherND's coordinates count within each batch") {
  const std::string line = "GatherND 2x2x2{0,1,2,3,4,5,6,7} ";
  CHECK(result_of(line + "int64:2x1{1,0} batch_dims=1") == Floats{2, 3, 4, 5});
  CHECK(result_of(line + "int64:2x2x1{0,1,1,0} batch_dims=2") == Floats{0, 3, 5, 6});
  CHECK(shape_of("GatherND 2x0x3 int64:2x0x1 batch_dims=1") == "2x0x3");
}

TEST_CASE("GatherElements and GatherND refuse indices outside of the data") {
  CHECK_THROWS_WITH(run_case("GatherElements 2x3 int64:1x2{0,2}"),
                    "GatherElements 'output0': index 2 at position 1 is outside [-2, 1]");
  CHECK_THROWS_AS(run_case("GatherElements {1,2} int64:{-9223372036854775808}"), ValueError);
  CHECK_THROWS_AS(run_case("GatherElements 0x2 int64:1x2{0,0}"), ValueError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:1x2{1,3}"), ValueError);
}

TEST_CASE("GatherElements and GatherND refuse shapes that do not fit") {
  CHECK_THROWS_AS(run_case("GatherElements 2x3 int64:{0}"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherElements 2x3 int64:1x4%1"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherElements scalar int64:scalar{0}"), ValueError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:1x3%1"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:2x0"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:3x1%1 batch_dims=1"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:2x1%1 batch_dims=2"), ShapeError);
  CHECK_THROWS_AS(run_case("GatherND 2x3 int64:2x1%1 batch_dims=-1"), ValueError);
}

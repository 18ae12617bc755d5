// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("ReverseSequence turns around the first steps of each sequence") {
  CHECK(result_of("ReverseSequence 3x2{0,1,2,3,4,5} int64:{3,2}") == Floats{4, 3, 2, 1, 0, 5});
  CHECK(result_of("ReverseSequence 2x3{0,1,2,3,4,5} int64:{3,2} batch_axis=0 time_axis=1") ==
        Floats{2, 1, 0, 4, 3, 5});
  CHECK(result_of("ReverseSequence 2x1x2{0,1,2,3} int64:{2}") == Floats{2, 3, 0, 1});
}

TEST_CASE("ReverseSequence leaves sequences of no step or one as they are, and takes empty ones") {
  CHECK(result_of("ReverseSequence 2x2{0,1,2,3} int64:{0,1}") == Floats{0, 1, 2, 3});
  CHECK(shape_of("ReverseSequence 0x2 int64:{0,0}") == "0x2");
  CHECK(shape_of("ReverseSequence 2x0x3 int64:0") == "2x0x3");
  CHECK(result_of<std::string>("ReverseSequence string:2x1{a,b} int64:{2}") ==
        std::vector<std::string>{"b", "a"});
}

TEST_CASE("ReverseSequence refuses lengths and axes that do not fit") {
  CHECK_THROWS_AS(run_case("ReverseSequence 2x2 int64:{3,0}"), ValueError);
  CHECK_THROWS_AS(run_case("ReverseSequence 2x2 int64:{-1,0}"), ValueError);
  CHECK_THROWS_AS(run_case("ReverseSequence 2x3 int64:{0,0}"), ShapeError);
  CHECK_THROWS_AS(run_case("ReverseSequence 2 int64:{0,0}"), ShapeError);
  CHECK_THROWS_AS(run_case("ReverseSequence 2x2 int64:{0,0} batch_axis=0"), ValueError);
  CHECK_THROWS_AS(run_case("ReverseSequence 2x2x2 int64:{0,0} batch_axis=2 time_axis=-1"),
                  ValueError);
}

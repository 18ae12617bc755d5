// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("ScatterElements replaces along the axis where each index says") {
  CHECK(result_of("ScatterElements 3x2{1,2,3,4,5,6} int32:1x2{2,-3} 1x2{8,9}") ==
        Floats{1, 9, 3, 4, 8, 6});
  CHECK(result_of("ScatterElements 1x3{1,2,3} int64:1x2{2,0} 1x2{8,9} axis=-1") == Floats{9, 2, 8});
  CHECK(result_of("Scatter@9 1x3{1,2,3} int64:1x2{2,0} 1x2{8,9} axis=1") == Floats{9, 2, 8});
  CHECK(result_of<std::string>("ScatterElements string:{a,b,c} int64:{1} string:{z}") ==
        std::vector<std::string>{"a", "z", "c"});
  CHECK(result_of("ScatterElements {1,2} int64:0 0") == Floats{1, 2});
}

TEST_CASE("ScatterElements reduces all updates of an element with it") {
  const std::string line = "ScatterElements {2,3,4} int64:{1,1,0} {5,-1,7} reduction=";
  CHECK(result_of(line + "add") == Floats{9, 7, 4});
  CHECK(result_of(line + "mul") == Floats{14, -15, 4});
  CHECK(result_of(line + "max") == Floats{7, 5, 4});
  CHECK(result_of(line + "min") == Floats{2, -1, 4});
}

TEST_CASE("ScatterElements reduces integers that wrap, and truths, but no words") {
  CHECK(result_of<std::int8_t>("ScatterElements int8:{100} int64:{0} int8:{100} reduction=add") ==
        std::vector<std::int8_t>{-56});
  CHECK(result_of<bool>("ScatterElements bool:{1,1} int64:{0,1} bool:{1,0} reduction=mul") ==
        std::vector<bool>{true, false});
  CHECK(result_of<bool>("ScatterElements bool:{1,0} int64:{0,1} bool:{1,0} reduction=add") ==
        std::vector<bool>{true, false});
  CHECK_THROWS_AS(run_case("ScatterElements string:{a} int64:{0} string:{b} reduction=add"),
                  Unsupported);
}

TEST_CASE("NaN wins a maximum and a minimum") {
  for (const std::string word : {"max", "min"}) {
    const auto y = result_of("ScatterElements {nan,1} int64:{0,1} {1,nan} reduction=" + word);
    CHECK(std::isnan(y[0]));
    CHECK(std::isnan(y[1]));
  }
}

TEST_CASE("ScatterND replaces or reduces slices at coordinates") {
  CHECK(result_of("ScatterND 3x2{1,2,3,4,5,6} int64:2x1{2,0} 2x2{7,8,9,10}") ==
        Floats{9, 10, 3, 4, 7, 8});
  CHECK(result_of("ScatterND 3x2{1,2,3,4,5,6} int64:2x2{2,1,-3,0} {7,8}") ==
        Floats{8, 2, 3, 4, 5, 7});
  CHECK(result_of("ScatterND 2x2{1,2,3,4} int64:2x1{1,1} 2x2{5,6,7,8} reduction=add") ==
        Floats{1, 2, 15, 18});
}

TEST_CASE("Scatter refuses indices, shapes and words that do not fit") {
  CHECK_THROWS_AS(run_case("ScatterElements {1,2} int64:{2} {5}"), ValueError);
  CHECK_THROWS_AS(run_case("ScatterElements {1,2} int64:{0} {5,6}"), ShapeError);
  CHECK_THROWS_AS(run_case("ScatterElements 2x2 int64:{0} {5}"), ShapeError);
  CHECK_THROWS_AS(run_case("ScatterElements {1,2} int64:{0} {5} axis=1"), ValueError);
  CHECK_THROWS_AS(run_case("ScatterElements {1,2} int64:{0} {5} reduction=mean"), ValueError);
  CHECK_THROWS_AS(run_case("ScatterElements@16 {1,2} int64:{0} {5} reduction=max"), ValueError);
  CHECK_THROWS_AS(run_case("ScatterND 2x2 int64:1x1{-3} 1x2"), ValueError);
  CHECK_THROWS_AS(run_case("ScatterND 2x2 int64:1x1{0} 1x3"), ShapeError);
  CHECK_THROWS_AS(run_case("ScatterND 2x2 int64:1x3{0,0,0} 1"), ShapeError);
  CHECK_THROWS_AS(run_case("Scatter@11 {1,2} int64:{0} {5}"), Unsupported);
}

TEST_CASE("each of several equal maxima gets an equal part of the gradient") {
  OperatorRunner runner =
      run_case("ScatterElements {3,1} int64:{0,0,1} {3,3,0} reduction=max", Mode::training);
  runner.backward({Tensor::of<float>({2}, {6, 5})});
  const auto data = runner.grad_input(0).span<float>(),
             updates = runner.grad_input(2).span<float>();
  CHECK(Floats(data.begin(), data.end()) == Floats{2, 5});
  CHECK(Floats(updates.begin(), updates.end()) == Floats{2, 2, 0});
}

TEST_CASE("updates of small floats are added as wide ones") {
  // 2048 + 1 in float16 is 2048.
  const auto y = result_of<Float16>(
      "ScatterElements float16:1{2048} int64:2{0,0} float16:2{1,1} reduction=add");
  CHECK(float(y.at(0)) == 2050);
}

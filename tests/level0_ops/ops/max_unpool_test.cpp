// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("MaxUnpool puts elements back, and zeros elsewhere") {
  const std::string line = "MaxUnpool 1x1x2{5,6} int64:1x1x2{1,2} ";
  CHECK(result_of(line + "kernel_shape=2 strides=2") == Floats{0, 5, 6, 0});
  CHECK(result_of(line + "int64:{1,1,5} kernel_shape=2 strides=2") == Floats{0, 5, 6, 0, 0});
  CHECK(result_of("MaxUnpool 1x2x1{5,6} int64:1x2x1{1,2} kernel_shape=2") == Floats{0, 5, 6, 0});
}

TEST_CASE("MaxUnpool's index counts in the shape before pooling, not in a larger output") {
  CHECK(result_of("MaxUnpool 1x1x1x1{7} int64:1x1x1x1{3} int64:{1,1,3,3} kernel_shape=2x2") ==
        Floats{0, 0, 0, 0, 7, 0, 0, 0, 0});
}

TEST_CASE("MaxUnpool knows empty tensors and small floats") {
  CHECK(shape_of("MaxUnpool 0x1x2 int64:0x1x2 kernel_shape=2 strides=2") == "0x1x4");
  CHECK(shape_of("MaxUnpool bfloat16:1x1x2 int64:1x1x2{0,1} kernel_shape=2") == "1x1x3");
}

TEST_CASE("MaxUnpool refuses what lies outside") {
  CHECK_THROWS_AS(run_case("MaxUnpool 1x1x1 int64:1x1x1{2} kernel_shape=2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxUnpool 1x1x1 int64:1x1x1{-1} kernel_shape=2"), ValueError);
  CHECK_THROWS_AS(run_case("MaxUnpool 1x1x1 int64:1x1x2 kernel_shape=2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxUnpool 1x1x1 int64:1x1x1 int64:{1,1,1} kernel_shape=2"), ShapeError);
  CHECK_THROWS_AS(run_case("MaxUnpool 1x1x1 int64:1x1x1 kernel_shape=0"), ValueError);
}

TEST_CASE("MaxUnpool's gradient is picked from where the elements went") {
  check_gradient("MaxUnpool 1x2x2 int64:1x2x2{0,3,5,6} kernel_shape=2 strides=2", 1);
}

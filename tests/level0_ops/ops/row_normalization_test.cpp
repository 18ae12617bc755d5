// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE(
    "LayerNormalization means the same in the older opsets that ONNX Runtime writes it into") {
  const std::string inputs = " 2x2{1,3,10,30} {1,2} {0,5} outputs=3";
  for (const std::size_t output : {0, 1, 2}) {
    const auto newest = result_of("LayerNormalization" + inputs, output);
    CHECK(result_of("LayerNormalization@11" + inputs, output) == newest);
    CHECK(result_of("LayerNormalization@1" + inputs, output) == newest);
  }
}

TEST_CASE("LayerNormalization gives each row mean 0 and variance 1, then scales") {
  // {1, 3}: mean 2, deviation 1
  const std::string line = "LayerNormalization 2x2{1,3,10,30} {1,2} {0,5} epsilon=0 outputs=3";
  CHECK(result_of(line) == Floats{-1, 7, -1, 7});
  CHECK(result_of(line, 1) == Floats{2, 20});
  CHECK(result_of(line, 2) == Floats{1, 0.1f});
}

TEST_CASE("RMSNormalization divides by the root of the mean square") {
  const Floats y = result_of("RMSNormalization 1x2{3,4} {1,2} epsilon=0");
  CHECK(y[0] == Approx(3 / std::sqrt(12.5)));
  CHECK(y[1] == Approx(8 / std::sqrt(12.5)));
}

// Rows {1, 3} and {10, 30} are {-1, 1} without scales.
TEST_CASE("scales of LayerNormalization and RMSNormalization broadcast to the input") {
  const std::string rows = "LayerNormalization 2x2{1,3,10,30} ", end = " epsilon=0";
  CHECK(result_of(rows + "1{2} 1{5}" + end) == Floats{3, 7, 3, 7});
  CHECK(result_of(rows + "scalar{2}" + end) == Floats{-2, 2, -2, 2});
  CHECK(result_of(rows + "2x1{2,3} 2{0,5}" + end) == Floats{-2, 7, -3, 8});  // a row's, a place's
  CHECK(result_of(rows + "2x2{1,2,3,4} 1x2{0,5}" + end) == Floats{-1, 7, -3, 9});
  // As in adaptive normalization: a scale per sample and channel, for all tokens.
  CHECK(result_of("LayerNormalization 2x2x2{1,3,10,30,1,3,10,30} 2x1x2{1,2,3,4} 2x1x2{0,0,0,1}" +
                  end) == Floats{-1, 2, -1, 2, -3, 5, -3, 5});
  CHECK(result_of("LayerNormalization 2x1x2{1,3,10,30} 2x1x1{1,2} axis=1" + end) ==
        Floats{-1, 1, -2, 2});
  CHECK(result_of("RMSNormalization 2x1{3,4} 2x1{5,6}" + end) == Floats{5, 6});
  // A tensor with as many elements as a row that does not broadcast is laid on the row.
  CHECK(result_of("LayerNormalization 1x2x2{1,3,1,3} 4{1,2,3,4} axis=1" + end) ==
        Floats{-1, 2, -3, 4});
}

TEST_CASE("InstanceNormalization keeps samples and channels apart") {
  CHECK(result_of("InstanceNormalization 1x2x2{1,3,10,30} {1,2} {0,5} epsilon=0") ==
        Floats{-1, 1, 3, 7});
}

TEST_CASE("GroupNormalization normalises groups and scales channels, or groups before opset 21") {
  CHECK(
      result_of("GroupNormalization 1x4x1{1,3,10,30} {1,2,3,4} {0,0,0,1} num_groups=2 epsilon=0") ==
      Floats{-1, 2, -3, 5});
  CHECK(result_of("GroupNormalization@18 1x4x1{1,3,10,30} {1,2} {0,1} num_groups=2 epsilon=0") ==
        Floats{-1, 1, -1, 3});
}

TEST_CASE("the gradients of row normalization agree with central differences") {
  check_gradient("LayerNormalization 3x4x5 5 5", 3);
  check_gradient("LayerNormalization 2x3x4 3x4 axis=1", 2);
  check_gradient("RMSNormalization 3x6 6", 2);
  check_gradient("LayerNormalization 2x3x4 2x1x4 3x1", 3);
  check_gradient("LayerNormalization 2x3x4 1 2x1x1 axis=1", 3);
  check_gradient("RMSNormalization 2x3x4 2x1x4", 2);
  check_gradient("InstanceNormalization 2x3x5 3 3", 3);
  check_gradient("GroupNormalization 2x4x3 4 4 num_groups=2", 3);
  check_gradient("GroupNormalization@18 2x4x3 2 2 num_groups=2", 3);
}

TEST_CASE("row normalization refuses what does not fit") {
  CHECK_THROWS_AS(run_case("LayerNormalization 2x3 2"), ShapeError);
  CHECK_THROWS_AS(run_case("LayerNormalization 2x3 3x2"), ShapeError);
  CHECK_THROWS_AS(run_case("RMSNormalization 2x3 1x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("LayerNormalization 2x3 3 axis=2"), ValueError);
  CHECK_THROWS_AS(run_case("InstanceNormalization 2x3x2 2 3"), ShapeError);
  CHECK_THROWS_AS(run_case("GroupNormalization 2x4x3 4 4 num_groups=3"), ValueError);
  CHECK_THROWS_AS(run_case("GroupNormalization 2x4x3 4 4 num_groups=0"), ValueError);
}

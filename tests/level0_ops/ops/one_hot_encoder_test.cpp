// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Floats = std::vector<float>;

TEST_CASE("OneHotEncoder gives each element a row with a 1 at its category") {
  const std::string line = "ai.onnx.ml.OneHotEncoder ";
  CHECK(result_of(line + "string:{b,x} cats_strings=a,b") == Floats{0, 1, 0, 0});
  CHECK(result_of(line + "{2.7,-1.5} cats_int64s=2x-1") == Floats{1, 0, 0, 1});
  CHECK(shape_of(line + "int64:2x3 cats_int64s=1x2x3x4") == "2x3x4");
  CHECK(shape_of(line + "int64:scalar{1} cats_int64s=1x2") == "2");
  CHECK(shape_of(line + "int64:0 cats_int64s=1x2") == "0x2");
}

TEST_CASE("OneHotEncoder has no category for NaN and what no integer holds") {
  CHECK(result_of("ai.onnx.ml.OneHotEncoder {nan,inf,-inf,1e30} cats_int64s=0") == Floats(4, 0));
}

TEST_CASE("OneHotEncoder refuses what is no category where zeros are not wanted") {
  const std::string line = "ai.onnx.ml.OneHotEncoder ";
  CHECK_THROWS_AS(run_case(line + "int64:{3} cats_int64s=1x2 zeros=0"), ValueError);
  CHECK_THROWS_AS(run_case(line + "string:{a} cats_int64s=1x2"), TypeError);
  CHECK_THROWS_AS(run_case(line + "int64:{1} cats_int64s=1 cats_strings=a"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:{1}"), ValueError);
}

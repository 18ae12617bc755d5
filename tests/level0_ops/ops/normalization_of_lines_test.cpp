// SPDX-License-Identifier: Apache-2.0
// LpNormalization and MeanVarianceNormalization.
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("LpNormalization divides each line by its length") {
  CHECK(result_of("LpNormalization 2x2{3,4,0,5}") == Floats{0.6f, 0.8f, 0, 1});
  CHECK(result_of("LpNormalization 2x2{3,4,-1,4} axis=0 p=1") == Floats{0.75f, 0.5f, -0.25f, 0.5f});
  CHECK(result_of("LpNormalization {0,0}") == Floats{0, 0});
  CHECK(shape_of("LpNormalization 0x3") == "0x3");
  CHECK(shape_of("LpNormalization 3x0") == "3x0");
  CHECK_THROWS_WITH(run_case("LpNormalization 3 p=3"),
                    "LpNormalization 'output0': p is 3, expected 1 or 2");
  CHECK_THROWS_AS(run_case("LpNormalization 3 axis=1"), ValueError);
  CHECK_THROWS_AS(run_case("LpNormalization scalar"), ValueError);
}

TEST_CASE("MeanVarianceNormalization gives mean 0 and variance 1 along its axes") {
  const std::string x = " 2x2{1,3,5,9} ";
  CHECK(result_of("MeanVarianceNormalization" + x + "axes=1") == Floats{-1, 1, -1, 1});
  CHECK(result_of("MeanVarianceNormalization" + x + "axes=0") == Floats{-1, -1, 1, 1});
  CHECK(result_of("MeanVarianceNormalization@9 1x2x1x2{1,3,5,9}") == Floats{-1, 1, -1, 1});
  CHECK(result_of("MeanVarianceNormalization 1x1x1x2{7,7}") == Floats{0, 0});
  CHECK(shape_of("MeanVarianceNormalization 0x2x0x2") == "0x2x0x2");
  CHECK_THROWS_AS(run_case("MeanVarianceNormalization 2x2"), ValueError);
  CHECK_THROWS_AS(run_case("MeanVarianceNormalization 2x2 axes=0x0"), ValueError);
}

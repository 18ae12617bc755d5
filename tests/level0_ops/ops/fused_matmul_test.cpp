// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("FusedMatMul turns its factors round, and scales") {
  CHECK(result_of("com.microsoft.FusedMatMul 2x1{1,2} 2x1{3,4} transA=1 alpha=2.0") == Floats{22});
  CHECK(result_of("com.microsoft.FusedMatMul 1x2{1,2} 1x2{3,4} transB=1") == Floats{11});
  CHECK(result_of("com.microsoft.FusedMatMul {1,2} 2x1{3,4} transA=1") == Floats{11});
}

TEST_CASE("FusedMatMul reads stacks whose rows come first") {
  // A holds rows before matrices: matrix 0 is {1, 3}, matrix 1 is {2, 4}, each 2 x 1.
  const std::string a = "2x2x1{1,2,3,4} ";
  CHECK(result_of("com.microsoft.FusedMatMul " + a + "2x1x1{1,10} transBatchA=1") ==
        Floats{1, 3, 20, 40});
  CHECK(result_of("com.microsoft.FusedMatMul " + a + "2x2x1{1,1,10,10} transBatchA=1 transA=1") ==
        Floats{4, 60});
  CHECK(result_of("com.microsoft.FusedMatMul 2x1x2{1,1,10,10} " + a + "transBatchB=1") ==
        Floats{4, 60});
}

TEST_CASE("FusedMatMul refuses inner sizes that differ") {
  CHECK_THROWS_AS(run_case("com.microsoft.FusedMatMul 2x3 2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.FusedMatMul int32:2x3 int32:3x2"), TypeError);
}

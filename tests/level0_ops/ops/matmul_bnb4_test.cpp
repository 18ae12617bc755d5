// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("MatMulBnb4 looks up four bits, the high ones first, and scales each block") {
  // FP4: 3 is 1, 11 is -1, 5 is 1/2, 0 is 0; blocks {1, -1} {1/2, 0}, rows {1, -1} and {1/2, 0}.
  const std::string fp4 = "com.microsoft.MatMulBnb4 2x2{1,0,1,1} uint8:{59,80} ";
  CHECK(result_of(fp4 + "{10,100} K=2 N=2 block_size=2 quant_type=0") == Floats{10, 50, 0, 50});
  // NF4: 15 is 1, 0 is -1, 7 is 0
  CHECK(result_of("com.microsoft.MatMulBnb4 1x2{1,2} uint8:{240,127} {1} K=2 N=2 block_size=16 "
                  "quant_type=1") == Floats{-1, 2});
}

TEST_CASE("MatMulBnb4 takes sizes that neither blocks nor bytes divide") {
  // Three elements in two bytes: 1, -1, 1/2 in blocks of two.
  CHECK(result_of("com.microsoft.MatMulBnb4 1x3{1,1,1} uint8:{59,80} {1,4} K=3 N=1 block_size=2 "
                  "quant_type=0") == Floats{2});
}

TEST_CASE("MatMulBnb4 refuses what does not fit") {
  const std::string line = "com.microsoft.MatMulBnb4 1x2 uint8:2 2 K=2 N=2 ";
  CHECK_NOTHROW(run_case(line + "block_size=2 quant_type=0"));
  CHECK_THROWS_AS(run_case(line + "block_size=2 quant_type=2"), ValueError);
  CHECK_THROWS_AS(run_case(line + "block_size=0 quant_type=0"), ValueError);
  CHECK_THROWS_AS(run_case(line + "block_size=4 quant_type=0"), ShapeError);
  CHECK_THROWS_AS(run_case(line + "block_size=2 quant_type=0 transB=0"), Unsupported);
  CHECK_THROWS_AS(
      run_case("com.microsoft.MatMulBnb4 1x2 uint8:3 2 K=2 N=2 block_size=2 quant_type=0"),
      ShapeError);
}

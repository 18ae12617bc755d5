// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("MatMulIntegerToFloat gives its sums in the unit of both scales") {
  const std::string line = "com.microsoft.MatMulIntegerToFloat uint8:1x2{1,2} uint8:2x2{1,2,3,4} ";
  CHECK(result_of(line + "{0.5} {1,2}") == Floats{3.5f, 10});
  // (1 - 1) (1 - 1) + (2 - 1) (3 - 1) = 2, and 3 with the second column's 2 - 1.
  CHECK(result_of(line + "scalar{0.5} scalar{1} uint8:{1} uint8:{1} {10,20}") == Floats{11, 21.5f});
  CHECK(result_of("com.microsoft.MatMulIntegerToFloat uint8:2x1{1,2} uint8:1x1{3} {1,10} {1}") ==
        Floats{3, 60});
}

TEST_CASE("DynamicQuantizeMatMul quantizes A in its own range") {
  // For {0, 255} the unit is 1: nothing is rounded.
  const std::string line = "com.microsoft.DynamicQuantizeMatMul 1x2{0,255} uint8:2x1{1,2} {0.5} ";
  CHECK(result_of(line) == Floats{255});
  CHECK(result_of(line + "uint8:{1} {1}") == Floats{128.5f});
  // For {1, 510} it is 2: 0.5 is rounded to 0.
  CHECK(result_of("com.microsoft.DynamicQuantizeMatMul 1x2{1,510} uint8:2x1{100,1} {1}") ==
        Floats{510});
}

TEST_CASE("QGemm adds integers to its sums, and quantizes if it is given a scale") {
  // (3 - 1) 1 + (4 - 1) 2 + 3 = 11, in the unit 0.5 times 2.
  const std::string line =
      "com.microsoft.QGemm uint8:1x2{3,4} {0.5} uint8:{1} int8:2x1{1,2} {2} int8:{0} int32:{3} ";
  CHECK(result_of(line) == Floats{11});
  CHECK(result_of(line + "alpha=2.0") == Floats{22});
  CHECK(result_of<std::uint8_t>(line + "{2} uint8:{1}") == std::vector<std::uint8_t>{7});
  CHECK(result_of("com.microsoft.QGemm uint8:2x1{3,4} {0.5} uint8:{1} int8:1x2{1,2} {2} int8:{0} - "
                  "transA=1 transB=1") == Floats{8});
}

TEST_CASE("products of quantized matrices refuse sizes that do not fit") {
  CHECK_THROWS_AS(run_case("com.microsoft.QGemm uint8:1x2 {1} uint8:{0} int8:3x1 {1} int8:{0}"),
                  ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.DynamicQuantizeMatMul 1x2 uint8:3x1 {1}"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.MatMulIntegerToFloat uint8:1x2 uint8:2x2 {1} {1,2,3}"),
                  ShapeError);
}

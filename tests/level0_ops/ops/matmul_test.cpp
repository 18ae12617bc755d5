// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("MatMul multiplies matrices and vectors") {
  CHECK(result_of("MatMul 2x2{1,2,3,4} 2x2{0,1,1,0}") == Floats{2, 1, 4, 3});
  CHECK(result_of("MatMul {1,2} {3,4}") == Floats{11});
  CHECK(result_of("MatMul {1,2} 2x2{1,2,3,4}") == Floats{7, 10});
  CHECK(result_of("MatMul 2x2{1,2,3,4} {1,2}") == Floats{5, 11});
}

TEST_CASE("MatMul broadcasts stacks of matrices") {
  CHECK(result_of("MatMul 2x1x2{1,2,3,4} 2x1{1,10}") == Floats{21, 43});
  CHECK(result_of("MatMul 1x2{1,10} 2x2x1{1,2,3,4}") == Floats{21, 43});
  CHECK(result_of("MatMul 2x1x1x1{2,3} 2x1x1{5,7}") == Floats{10, 14, 15, 21});
}

TEST_CASE("MatMul's shape follows NumPy") {
  CHECK(shape_of("MatMul 3 3") == "scalar");
  CHECK(shape_of("MatMul 3 5x3x2") == "5x2");
  CHECK(shape_of("MatMul 5x2x3 3") == "5x2");
  CHECK(shape_of("MatMul 5x1x2x3 4x3x6") == "5x4x2x6");
  CHECK(shape_of("MatMul 0x3 3x2") == "0x2");
}

TEST_CASE("MatMul takes integers, which wrap around") {
  const auto runner = run_case("MatMul int32:1x2{65536,3} int32:2x1{65536,5}");
  CHECK(runner.output(0).tensor().item<std::int32_t>() == 15);
}

TEST_CASE("MatMul's gradients agree with central differences") {
  check_gradient("MatMul 3x4 4x2", 2);
  check_gradient("MatMul 3 3x2", 2);
  check_gradient("MatMul 2x3x2 2", 2);
  check_gradient("MatMul 4 4", 2);
  check_gradient("MatMul 2x3x4 4x2", 2);
  check_gradient("MatMul 2x1x3x2 3x2x2", 2);
}

TEST_CASE("MatMul refuses sizes that do not fit") {
  CHECK_THROWS_AS(run_case("MatMul 2x3 2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("MatMul 2x2x3 3x3x2"), ShapeError);
  CHECK_THROWS_AS(run_case("MatMul scalar 3"), ShapeError);
  CHECK_THROWS_AS(run_case("MatMul 2 float64:2"), TypeError);
}

TEST_CASE("MatMul's work is a product and a sum for each term") {
  CHECK(run_case("MatMul 2x3x4 4x5").cost().flop == 2 * 3 * 5 * 2 * 4);
}

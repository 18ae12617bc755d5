// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("Gemm multiplies, scales and adds") {
  CHECK(result_of("Gemm 2x2{1,2,3,4} 2x2{1,0,1,1}") == Floats{3, 2, 7, 4});
  CHECK(result_of("Gemm 2x2{1,2,3,4} 2x2{1,0,1,1} 2x2{1,1,1,1} alpha=2 beta=0.5") ==
        Floats{6.5, 4.5, 14.5, 8.5});
}

TEST_CASE("Gemm transposes what it is told to") {
  CHECK(result_of("Gemm 3x1{1,2,3} 3x2{1,0,0,1,1,1} transA=1") == Floats{4, 5});
  CHECK(result_of("Gemm 1x3{1,2,3} 2x3{1,0,1,0,1,1} transB=1") == Floats{4, 5});
  CHECK(result_of("Gemm 2x1{1,2} 2x2{1,3,5,7} transA=1 transB=1") == Floats{7, 19});
}

TEST_CASE("Gemm broadcasts C") {
  const std::string product = "Gemm 2x1{1,2} 1x2{1,1} ";
  CHECK(result_of(product + "scalar{10}") == Floats{11, 11, 12, 12});
  CHECK(result_of(product + "{10}") == Floats{11, 11, 12, 12});
  CHECK(result_of(product + "{10,20}") == Floats{11, 21, 12, 22});
  CHECK(result_of(product + "1x2{10,20}") == Floats{11, 21, 12, 22});
  CHECK(result_of(product + "2x1{10,20}") == Floats{11, 11, 22, 22});
  CHECK(result_of("Gemm@6 2x1{1,2} 1x2{1,1} {10,20} broadcast=1") == Floats{11, 21, 12, 22});
}

TEST_CASE("an empty inner size leaves C alone") {
  CHECK(result_of("Gemm 2x0 0x2 {1,2}") == Floats{1, 2, 1, 2});
  CHECK(result_of("Gemm 0x3 3x2").empty());
}

TEST_CASE("the number of threads changes no bit of a product") {
  const int before = threads();
  for (const std::string line :
       {"Gemm 90x498 498x135", "Gemm 25x650 522x650 transB=1", "Gemm 401x31 401x183 transA=1",
        "Gemm 87x893 348x87 transA=1 transB=1", "MatMul float64:526x354 float64:354x15",
        "MatMul float64:31x91 float64:91x614"}) {
    CAPTURE(line);
    set_threads(1);
    const auto one = run_case(line);
    for (const int count : {2, 3, 7}) {
      set_threads(count);
      const auto more = run_case(line);
      const auto size = std::size_t(one.output(0).tensor().bytes());
      CHECK(std::memcmp(one.output(0).tensor().raw(), more.output(0).tensor().raw(), size) == 0);
    }
  }
  set_threads(before);
}

TEST_CASE("Gemm's gradients agree with central differences") {
  check_gradient("Gemm 3x4 4x5 5", 3);
  check_gradient("Gemm 4x3 4x5 3x1 transA=1 alpha=0.5 beta=2", 3);
  check_gradient("Gemm 3x4 5x4 scalar transB=1 alpha=-1.5", 3);
  check_gradient("Gemm 4x3 5x4 3x5 transA=1 transB=1 beta=0.25", 3);
  check_gradient("Gemm 17x33 33x19 1x19", 3);  // by projections
}

TEST_CASE("Gemm refuses sizes that do not fit") {
  CHECK_THROWS_WITH(run_case("Gemm 3x4 5x2"),
                    "Gemm 'output0': A is 3x4 but B is 5x2; the inner sizes must agree");
  CHECK_THROWS_AS(run_case("Gemm 3x4 5x2"), ShapeError);
  CHECK_THROWS_AS(run_case("Gemm 3x4 4x2 3"), ShapeError);
  CHECK_THROWS_AS(run_case("Gemm 3x4 4x2 1x3x2"), ShapeError);
  CHECK_THROWS_AS(run_case("Gemm 4 4x2"), ShapeError);
  CHECK_THROWS_AS(run_case("Gemm 3x4 float64:4x2"), TypeError);
}

TEST_CASE("Gemm's work is a product and a sum for each term, and C's sum") {
  CHECK(run_case("Gemm 3x4 4x5").cost().flop == 3 * 5 * 2 * 4);
  CHECK(run_case("Gemm 3x4 4x5 5").cost().flop == 3 * 5 * (2 * 4 + 1));
}

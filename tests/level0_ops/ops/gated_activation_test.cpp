// SPDX-License-Identifier: Apache-2.0
// PRelu, Gelu, SwiGLU and Shrink.
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("PRelu's slope is broadcast to X, and only it") {
  CHECK(result_of("PRelu 2x2{-1,2,-3,4} {0.5,2}") == Floats{-0.5, 2, -1.5, 4});
  CHECK(result_of("PRelu 2x2{-1,-2,-3,4} 2x1{10,100}") == Floats{-10, -20, -300, 4});
  CHECK(shape_of("PRelu 2x0 scalar") == "2x0");
  CHECK_THROWS_WITH(run_case("PRelu 2 3x2"),
                    "PRelu 'output0': the slope is 3x2, which cannot be broadcast to X, 2");
  CHECK_THROWS_AS(run_case("PRelu 1 3"), ShapeError);
}

TEST_CASE("PRelu's slope belongs to channels before opset 7") {
  CHECK(result_of("PRelu@6 1x2x2{-1,-2,-3,-4} {1,10}") == Floats{-1, -2, -30, -40});
  CHECK(result_of("PRelu@6 1x2x2{-1,-2,-3,-4} {2}") == Floats{-2, -4, -6, -8});
  CHECK(result_of("PRelu@7 1x2x2{-1,-2,-3,-4} {1,10}") == Floats{-1, -20, -3, -40});
  CHECK_THROWS_AS(run_case("PRelu@6 1x2x2 3"), ShapeError);
}

TEST_CASE("PRelu of integers wraps around, and NaN stays") {
  CHECK(result_of<std::int32_t>("PRelu int32:{-5,5,-2147483648} int32:{3,3,2}") ==
        std::vector<std::int32_t>{-15, 5, 0});
  CHECK(std::isnan(result_of("PRelu {nan} {0}")[0]));
}

TEST_CASE("Gelu is x at large x, nothing at small x, and half of it never far from zero") {
  for (const std::string approximate : {"none", "tanh"}) {
    const auto y = result_of("Gelu {0,20,-20} approximate=" + approximate);
    CHECK(y == Floats{0, 20, 0});
  }
  CHECK(result_of("Gelu {1}")[0] == Approx(0.5 * (1 + std::erf(std::sqrt(0.5)))));
  CHECK(result_of("Gelu {1} approximate=tanh")[0] ==
        Approx(0.5 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * 1.044715))));
  CHECK_THROWS_WITH(run_case("Gelu 2 approximate=sigmoid"),
                    "Gelu 'output0': approximate is 'sigmoid', expected none or tanh");
}

TEST_CASE("SwiGLU opens where the gate is large, and broadcasts nothing") {
  CHECK(result_of("SwiGLU {0,200,-200} {5,6,7}") == Floats{0, 1200, 0});
  CHECK(result_of("SwiGLU {2} {3} alpha=0") == Floats{3});  // half of the gate
  CHECK(result_of("SwiGLU {1} {1}")[0] == Approx(1 / (1 + std::exp(-1.0))));
  CHECK_THROWS_AS(run_case("SwiGLU 2x3 3"), ShapeError);
}

TEST_CASE("Shrink draws towards zero") {
  CHECK(result_of("Shrink {-2,-0.5,0,0.5,2,nan} bias=0.5") == Floats{-1.5, 0, 0, 0, 1.5, 0});
  CHECK(result_of("Shrink {-2,2} lambd=1.5") == Floats{-2, 2});
  using Bytes = std::vector<std::int8_t>;
  CHECK(result_of<std::int8_t>("Shrink int8:{-3,-1,0,1,3} lambd=1.5 bias=1.5") ==
        Bytes{-2, 0, 0, 0, 2});
  CHECK(result_of<std::int64_t>("Shrink int64:{9007199254740993}") ==
        std::vector<std::int64_t>{9007199254740993});
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

/// Two tokens, {1, 2} and {3, 4}, and two experts: x -> {x0, x1} -> x0 + x1, and x -> {2 x0, -x1}
/// -> x1 of that. The router gives the first token 1/4 and 3/4, the second half and half.
const std::string kMoe =
    "com.microsoft.MoE 2x2{1,2,3,4} 2x2{0,1.0986123,0,0} 2x2x2{1,0,0,1,2,0,0,-1} - "
    "2x2x2{1,1,0,0,0,1,0,0} ";

}  // namespace

TEST_CASE("a token passes through the experts that its router likes best") {
  // The first token: expert 1 gives relu(-2) = 0 or -2; the second one: the first of equal ones.
  CHECK(result_of(kMoe + "activation_type=relu k=1 normalize_routing_weights=1") ==
        Floats{0, 0, 7, 0});
  const Floats y = result_of(kMoe + "activation_type=identity k=2");
  CHECK(y[0] == Approx(0.25 * 3 + 0.75 * -2));
  CHECK(y[2] == Approx(0.5 * 7 + 0.5 * -4));
  CHECK(result_of(kMoe + "activation_type=identity k=1")[0] == Approx(0.75 * -2));
}

TEST_CASE("an expert that is not chosen may give what is no number") {
  const std::string line =
      "com.microsoft.MoE 1x1{1} 1x2{1,0} 2x1x1{1,inf} - 2x1x1{1,1} activation_type=identity k=1 "
      "normalize_routing_weights=1";
  CHECK(result_of(line) == Floats{1});
}

TEST_CASE("SwiGLU multiplies two halves, which alternate, follow each other, or have layers") {
  const std::string begin = "com.microsoft.MoE 1x2{1,2} 1x1{0} ";
  const std::string end = " activation_type=swiglu swiglu_fusion=";
  const float swish = 1 / (1 + std::exp(-1.0F));
  // Gate 1, linear 2.
  CHECK(result_of(begin + "1x2x2{1,0,0,1} - 1x2x1{1,0}" + end + "1")[0] == Approx(swish * 2));
  CHECK(result_of(begin + "1x2x2{1,0,0,1} - 1x2x1{1,0}" + end + "2")[0] == Approx(swish * 2));
  CHECK(result_of(begin + "1x1x2{1,0} - 1x2x1{1,0} - 1x1x2{0,1}" + end + "0")[0] ==
        Approx(swish * 2));
  CHECK(result_of(begin + "1x2x2{1,0,0,1} - 1x2x1{1,0} swiglu_limit=0.5 activation_beta=1.0" + end +
                  "1")[0] == Approx(0.5 / (1 + std::exp(-0.5)) * 1.5));
  CHECK(shape_of("com.microsoft.MoE 2x3x4 6x5 5x8x4 5x8 5x4x4 5x4" + end + "1") == "2x3x4");
}

TEST_CASE("a mixture refuses what does not fit") {
  const auto refused = [](const std::string& line) {
    return run_case("com.microsoft.MoE " + line);
  };
  CHECK_THROWS_AS(refused("2x3 2x4 3x5x3 - 3x3x5"), ShapeError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5 - 4x3x5"), ShapeError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x2x5"), ShapeError);
  CHECK_THROWS_AS(refused("3 2x4 4x5x3 - 4x3x5"), ShapeError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 k=5"), ValueError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 activation_type=tanh"), ValueError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 activation_type=swiglu swiglu_fusion=3"),
                  ValueError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 activation_type=swiglu swiglu_fusion=1"),
                  ShapeError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 activation_type=swiglu"), ShapeError);
  CHECK_THROWS_AS(refused("2x3 2x4 4x5x3 - 4x3x5 use_sparse_mixer=1"), Unsupported);
}

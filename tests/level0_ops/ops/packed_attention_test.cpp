// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

/// Queries and keys are zero, values are the input: each query sees the mean of what is visible.
const std::string kMeanAttention = "com.microsoft.Attention 1x3x1{1,3,8} 1x3{0,0,1} ";

}  // namespace

TEST_CASE("com.microsoft's Attention projects its input to queries, keys and values") {
  CHECK(result_of(kMeanAttention + "num_heads=1") == Floats{4, 4, 4});
  CHECK(result_of(kMeanAttention + "{0,0,10} num_heads=1") == Floats{14, 14, 14});
  // Keys {ln 3, 0} against a query of 1: weights 3/4 and 1/4.
  const auto y = result_of(
      "com.microsoft.Attention 1x2x2{1.0986123,1,0,5} 2x3{0,1,0,0,0,1} {1,0,0} "
      "num_heads=1");
  CHECK(y.at(0) == Approx(0.75 * 1 + 0.25 * 5));
  CHECK(result_of("com.microsoft.Attention 1x3x1{1,3,8} 1x4{0,0,1,2} num_heads=1 "
                  "qkv_hidden_sizes=1x1x2") == Floats{4, 8, 4, 8, 4, 8});
}

TEST_CASE("com.microsoft's Attention hides what comes later, and what its mask hides") {
  CHECK(result_of(kMeanAttention + "num_heads=1 unidirectional=1") == Floats{1, 2, 4});
  CHECK(result_of(kMeanAttention + "- int32:{2} num_heads=1") == Floats{2, 2, 2});
  CHECK(result_of(kMeanAttention + "- int32:{3,1} num_heads=1") == Floats{5.5f, 5.5f, 5.5f});
  CHECK(result_of(kMeanAttention + "- int32:1x3{1,0,1} num_heads=1") == Floats{4.5f, 4.5f, 4.5f});
  CHECK(result_of(kMeanAttention + "- int32:1x3x3{1,0,0,0,1,0,0,1,1} num_heads=1") ==
        Floats{1, 3, 5.5f});
  CHECK(result_of(kMeanAttention + "- - - 1x1x3x3{0,-99,-99,-99,0,-99,-99,-99,0} num_heads=1") ==
        Floats{1, 3, 8});
}

TEST_CASE("com.microsoft's Attention attends to a past, and tells keys and values of both") {
  const auto run = run_case(
      "com.microsoft.Attention 1x1x1{4} 1x3{0,0,1} - - 2x1x1x1x1{7,2} "
      "num_heads=1 outputs=2");
  CHECK(run.output(0).tensor().item<float>() == 3);
  const auto present = run.output(1).tensor().span<float>();
  CHECK(Floats(present.begin(), present.end()) == Floats{7, 0, 2, 4});
}

TEST_CASE("QAttention is the same of quantized numbers") {
  CHECK(result_of("com.microsoft.QAttention uint8:1x2x1{3,5} uint8:1x3{1,1,3} {0,0,10} {0.5} {2} - "
                  "uint8:{1} uint8:{1} num_heads=1") == Floats{10 + 6, 10 + 6});
}

TEST_CASE("MultiHeadAttention takes queries, keys and values apart or packed") {
  const std::string op = "com.microsoft.MultiHeadAttention ";
  CHECK(result_of(op + "1x1x2{0,0} 1x2x2{0,0,0,0} 1x2x2{1,10,3,30} num_heads=2") == Floats{2, 20});
  CHECK(result_of(op + "1x2x1x3x1{0,0,1,0,0,3} num_heads=1") == Floats{2, 2});
  CHECK(result_of(op + "1x1x1{0} 1x2x1x2x1{0,1,0,3} num_heads=1") == Floats{2});
  CHECK(result_of(op + "1x1x2{0,0} 1x2x2x1{0,0,0,0} 1x2x2x1{1,3,10,30} num_heads=2") ==
        Floats{2, 20});
  CHECK(result_of(op + "1x1x1{0} 1x2x1{0,0} 1x2x1{1,3} {0,0,5} int32:1x2{0,1} num_heads=1") ==
        Floats{8});
}

TEST_CASE("MultiHeadAttention attends to a past") {
  const auto run = run_case(
      "com.microsoft.MultiHeadAttention 1x1x1{0} 1x1x1{0} 1x1x1{4} - - - "
      "1x1x1x1{7} 1x1x1x1{2} num_heads=1 outputs=3");
  CHECK(run.output(0).tensor().item<float>() == 3);
  CHECK(run.output(1).tensor().span<float>()[0] == 7);
  CHECK(run.output(2).tensor().span<float>()[1] == 4);
}

TEST_CASE("attentions refuse masks of another size, and caches that are shared") {
  CHECK_THROWS_AS(run_case(kMeanAttention + "- int32:1x2 num_heads=1"), ShapeError);
  CHECK_THROWS_AS(run_case(kMeanAttention + "- int32:{0,1,2,3,4} num_heads=1"), Unsupported);
  CHECK_THROWS_AS(run_case(kMeanAttention + "num_heads=1 do_rotary=1"), Unsupported);
  CHECK_THROWS_AS(run_case("com.microsoft.Attention 1x3x1 1x4 num_heads=1"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.MultiHeadAttention 1x1x1 num_heads=1"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.MultiHeadAttention 1x1x1 1x1x1 1x1x1 num_heads=0"),
                  ValueError);
}

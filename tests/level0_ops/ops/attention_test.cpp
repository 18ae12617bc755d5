// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

// One head of size 1 with keys of zero: every visible key gets the same weight, so that Y is the
// mean of the visible values.

TEST_CASE("Attention weighs all keys alike where all scores are equal") {
  CHECK(result_of("Attention 1x1x1x1{5} 1x1x4x1{0,0,0,0} 1x1x4x1{1,2,3,6}") == Floats{3});
}

TEST_CASE("Attention computes a softmax of scaled products") {
  // Scores are 0 and ln 3.
  const Floats y = result_of("Attention 1x1x1x1{1} 1x1x2x1{0,2.1972246} 1x1x2x1{0,4} scale=0.5");
  CHECK(y[0] == Approx(3));
}

TEST_CASE("Attention sees no later key where it is causal") {
  const std::string line = "Attention 1x1x3x1 1x1x3x1{0,0,0} 1x1x3x1{2,4,9} ";
  CHECK(result_of(line + "is_causal=1") == Floats{2, 3, 5});
  CHECK(result_of(line + "left_window_size=1 right_window_size=0") == Floats{2, 3, 6.5});
  CHECK(result_of(line + "left_window_size=0") == Floats{5, 6.5, 9});
  CHECK(result_of(line + "left_window_size=9223372036854775807") == Floats{5, 5, 5});
}

TEST_CASE("Attention's queries stand behind the past") {
  const std::string line =
      "Attention 1x1x2x1 1x1x2x1{0,0} 1x1x2x1{4,9} - 1x1x1x1{0} 1x1x1x1{2} is_causal=1 outputs=3";
  CHECK(result_of(line) == Floats{3, 5});
  CHECK(result_of(line, 2) == Floats{2, 4, 9});
}

TEST_CASE("Attention's queries are the last of a cache's tokens, and see no padding") {
  const std::string line = "Attention 2x1x2x1 2x1x3x1{0,0,0,0,0,0} 2x1x3x1{2,4,9,2,4,9} - - - ";
  CHECK(result_of(line + "int64:{2,3}") == Floats{3, 3, 5, 5});
  CHECK(result_of(line + "int64:{2,3} is_causal=1") == Floats{2, 3, 3, 5});
  // More queries than tokens: the first sees nothing.
  CHECK(result_of(line + "int64:{1,0} is_causal=1") == Floats{0, 2, 0, 0});
  CHECK_THROWS_AS(run_case(line + "int64:{2,4}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:{-1,1}"), ValueError);
}

TEST_CASE("Attention's mask selects, or is added") {
  const std::string line = "Attention 1x1x2x1 1x1x3x1{0,0,0} 1x1x3x1{2,4,9} ";
  CHECK(result_of(line + "bool:2x3{1,0,1,0,0,0}") == Floats{5.5, 0});
  CHECK(result_of(line + "bool:1x3{1,1,0}") == Floats{3, 3});
  CHECK(result_of(line + "int32:3{-90,0,0}") == Floats{6.5, 6.5});
}

TEST_CASE("Attention's mask hides the keys behind it, from opset 24 on") {
  const std::string line = " 1x1x2x1 1x1x3x1{0,0,0} 1x1x3x1{2,4,9} ";
  CHECK(result_of("Attention" + line + "2x1{0,0}") == Floats{2, 2});
  CHECK(result_of("Attention@23" + line + "2x1{0,0}") == Floats{5, 5});
  CHECK_THROWS_AS(run_case("Attention@23" + line + "2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("Attention" + line + "3x3"), ShapeError);
}

TEST_CASE("Attention hides infinities and NaN with a key") {
  const std::string inf = "inf", line = "Attention 1x1x1x1{1} 1x1x3x1{0," + inf + ",nan} ";
  CHECK(result_of(line + "1x1x3x1{2,4,9} bool:3{1,0,0}") == Floats{2});
}

TEST_CASE("Attention's packed heads are those of four dimensions") {
  const Floats expected = result_of("Attention 1x2x1x2{1,2,3,4} 1x2x1x2{1,1,1,1} 1x2x1x1{5,6}");
  CHECK(result_of("Attention 1x1x4{1,2,3,4} 1x1x4{1,1,1,1} 1x1x2{5,6} q_num_heads=2 "
                  "kv_num_heads=2") == expected);
  CHECK(expected == Floats{5, 6});
}

TEST_CASE("Attention shows its scores after each step") {
  const std::string line =
      "Attention 1x1x1x1{2} 1x1x2x1{3,1} 1x1x2x1{1,2} {0,-1} outputs=4 scale=1 softcap=2 "
      "qk_matmul_output_mode=";
  CHECK(result_of(line + "0", 3) == Floats{6, 2});
  const Floats capped = result_of(line + "1", 3), masked = result_of(line + "2", 3);
  CHECK(capped[0] == Approx(1.9901095));  // 2 tanh 3
  CHECK(capped[1] == Approx(1.5231884));  // 2 tanh 1
  CHECK(masked == Floats{capped[0], capped[1] - 1});
  const Floats weights = result_of(line + "3", 3);
  CHECK(weights[0] + weights[1] == Approx(1));
}

TEST_CASE("Attention takes types that differ, and empty tensors") {
  CHECK(result_of("Attention 1x1x1x1{5} 1x1x2x1{0,0} float64:1x1x2x1{1,2}") == Floats{1.5});
  CHECK(shape_of("Attention 2x3x0x4 2x3x5x4 2x3x5x6") == "2x3x0x6");
  CHECK(result_of("Attention 1x1x2x1 1x1x0x1 1x1x0x1") == Floats{0, 0});
  CHECK(result_of("Attention 1x1x1x0 1x1x2x0 1x1x2x1{1,2}") == Floats{1.5});
}

TEST_CASE("Attention refuses what does not fit") {
  CHECK_THROWS_WITH(run_case("Attention 1x1x2x3 1x1x2x4 1x1x2x3"),
                    "Attention 'output0': Q is 1x1x2x3, K is 1x1x2x4, V is 1x1x2x3; a head of K "
                    "must be as wide as one of Q");
  CHECK_THROWS_AS(run_case("Attention 1x3x2x3 1x2x2x3 1x2x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("Attention 1x2x3 1x1x2x4 1x1x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("Attention 1x2x3 1x2x3 1x2x3"), ValueError);
  CHECK_THROWS_AS(run_case("Attention 1x2x3 1x2x3 1x2x3 q_num_heads=2 kv_num_heads=1"), ValueError);
  CHECK_THROWS_AS(run_case("Attention 1x1x2x3 1x1x2x3 1x1x2x3 - 1x1x1x3"), ShapeError);
  CHECK_THROWS_AS(run_case("Attention 1x1x2x3 1x1x2x3 1x1x2x3 qk_matmul_output_mode=4"),
                  ValueError);
  CHECK_THROWS_AS(run_case("Attention 1x1x2x3 1x1x2x3 1x1x2x3 softmax_precision=7"), ValueError);
  CHECK_THROWS_AS(run_case("Attention 1x1x2x3 1x1x2x3 1x1x2x3 left_window_size=-2"), ValueError);
}

TEST_CASE("Attention's gradient passes the tiles of long sequences") {
  check_gradient("Attention 1x2x70x2 1x1x66x2 1x1x66x2 is_causal=1 left_window_size=9", 3);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

// Heads of size 1: the state is a number.
const std::string kOnes = "LinearAttention 1x3x1{1,1,1} 1x3x1{1,1,1} 1x3x1{4,2,1} ";
const std::string kHeads = " q_num_heads=1 kv_num_heads=1 outputs=2 update_rule=";

TEST_CASE("LinearAttention adds up, decays, and corrects what the state says already") {
  CHECK(result_of(kOnes + kHeads + "linear") == Floats{4, 6, 7});
  // e^decay is 1/2.
  const std::string halves = "-0.6931472,-0.6931472,-0.6931472}";
  const Floats gated = result_of(kOnes + "- 1x3x1{" + halves + kHeads + "gated");
  CHECK(gated[1] == Approx(4));
  CHECK(gated[2] == Approx(3));
  // A beta of 1 replaces the state, one of 1/2 moves it half of the way.
  CHECK(result_of(kOnes + "- - 1x3x1{1,1,1}" + kHeads + "delta") == Floats{4, 2, 1});
  CHECK(result_of(kOnes + "- - 1x3x1{0.5,0.5,0.5}" + kHeads + "delta") == Floats{2, 2, 1.5});
  const Floats both = result_of(kOnes + "1x1x1x1{8} 1x3x1{" + halves + " 1x3x1{0.5,0.5,0.5}" +
                                kHeads + "gated_delta");
  CHECK(both[0] == Approx(4));  // 4 + (4 - 4) / 2
  CHECK(both[1] == Approx(2));  // 2 + (2 - 2) / 2
  CHECK(both[2] == Approx(1));
}

TEST_CASE("LinearAttention goes on from a state, of a type of its own") {
  const std::string line = kOnes + "float16:1x1x1x1{0.5}" + kHeads + "linear";
  CHECK(result_of(line) == Floats{4.5, 6.5, 7.5});
  CHECK(float(result_of<Float16>(line, 1)[0]) == 7.5f);
}

TEST_CASE("LinearAttention scales by the size of a head, or by its attribute scale") {
  const std::string line = "LinearAttention 1x1x4{1,1,1,1} 1x1x4{1,1,1,1} 1x1x1{3} ";
  CHECK(result_of(line + kHeads + "linear") == Floats{6});
  CHECK(result_of(line + "scale=1" + kHeads + "linear") == Floats{12});
}

TEST_CASE("LinearAttention takes empty tensors and refuses what does not fit") {
  const std::string heads = " q_num_heads=2 kv_num_heads=2 update_rule=linear outputs=2";
  CHECK(result_of("LinearAttention 1x0x2 1x0x2 1x0x2 1x2x1x1{3,4}" + heads, 1) == Floats{3, 4});
  CHECK(shape_of("LinearAttention 0x3x2 0x3x2 0x3x4" + heads) == "0x3x4");
  CHECK_THROWS_AS(run_case("LinearAttention 1x3x3 1x3x2 1x3x2" + heads), ShapeError);
  CHECK_THROWS_AS(run_case("LinearAttention 1x3x2 1x2x2 1x3x2" + heads), ShapeError);
  CHECK_THROWS_AS(run_case("LinearAttention 1x3x2 1x3x2 1x3x2 1x2x1x2" + heads), ShapeError);
  CHECK_THROWS_AS(run_case("LinearAttention 1x3x2 1x3x2 1x3x2 - 1x3x2" + heads), ShapeError);
  CHECK_THROWS_WITH(run_case(kOnes + kHeads + "gated"),
                    "LinearAttention 'output0': decay is missing, but update_rule gated needs it");
  CHECK_THROWS_AS(run_case(kOnes + "- 1x3x2" + kHeads + "gated"), ShapeError);
  CHECK_THROWS_AS(run_case(kOnes + kHeads + "cubic"), ValueError);
  CHECK_THROWS_AS(run_case(kOnes + "q_num_heads=3 kv_num_heads=2"), ValueError);
  CHECK_THROWS_AS(run_case(kOnes + "q_num_heads=0 kv_num_heads=0"), ValueError);
}

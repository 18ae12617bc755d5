// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("RotaryEmbedding turns the halves of a row, or neighbours") {
  // A quarter of a turn, and none.
  const std::string line = "RotaryEmbedding 1x1x1x4{1,2,3,4} 1x1x2{0,1} 1x1x2{1,0} ";
  CHECK(result_of(line) == Floats{-3, 2, 1, 4});
  CHECK(result_of(line + "interleaved=1") == Floats{-2, 1, 3, 4});
}

TEST_CASE("RotaryEmbedding takes its angles from positions, and leaves the rest of a row") {
  const std::string line = "RotaryEmbedding 1x1x2x4{1,2,3,4,5,6,7,8} 2x1{1,0} 2x1{0,1} ";
  CHECK(result_of(line + "int64:1x2{1,0} rotary_embedding_dim=2") ==
        Floats{-2, 1, 3, 4, 5, 6, 7, 8});
  CHECK_THROWS_AS(run_case(line + "int64:1x2{2,0} rotary_embedding_dim=2"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int64:1x2{0,-1} rotary_embedding_dim=2"), ValueError);
}

TEST_CASE("RotaryEmbedding's packed heads have the same angles") {
  CHECK(result_of("RotaryEmbedding 1x1x4{1,2,3,4} 1x1x1{0} 1x1x1{1} num_heads=2") ==
        Floats{-2, 1, -4, 3});
}

TEST_CASE("RotaryEmbedding takes empty tensors and refuses what does not fit") {
  CHECK(shape_of("RotaryEmbedding 0x2x3x4 0x3x2 0x3x2") == "0x2x3x4");
  CHECK(shape_of("RotaryEmbedding 2x0x4 2x0x1 2x0x1 num_heads=2") == "2x0x4");
  CHECK_THROWS_WITH(run_case("RotaryEmbedding 1x1x1x4 1x1x3 1x1x2"),
                    "RotaryEmbedding 'output0': cos_cache is 1x1x3, expected 1x1x2");
  CHECK_THROWS_AS(run_case("RotaryEmbedding 1x1x1x3 1x1x1 1x1x1"), ValueError);
  CHECK_THROWS_AS(run_case("RotaryEmbedding 1x1x1x4 1x1x2 1x1x2 rotary_embedding_dim=6"),
                  ValueError);
  CHECK_THROWS_AS(run_case("RotaryEmbedding 1x1x4 1x1x2 1x1x2"), ValueError);
  CHECK_THROWS_AS(run_case("RotaryEmbedding 1x1x4 1x1x2 1x1x2 num_heads=3"), ValueError);
  CHECK_THROWS_AS(run_case("RotaryEmbedding 1x1x1x4 2x2 3x2 int64:1x1{0}"), ShapeError);
  CHECK_THROWS_AS(run_case("RotaryEmbedding 4 2 2"), ShapeError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kRotary = "com.microsoft.RotaryEmbedding ";
/// No turn at place 0, a quarter at place 1, half a turn at place 2; for heads of two elements.
const std::string kCaches = "3x1{1,0,-1} 3x1{0,1,0} ";

}  // namespace

TEST_CASE("com.microsoft's RotaryEmbedding turns each head by its place") {
  // Two heads, whose size the caches tell.
  CHECK(result_of(kRotary + "1x2x4{1,2,3,4,1,2,3,4} int64:1x2{1,2} " + kCaches) ==
        Floats{-2, 1, -4, 3, -1, -2, -3, -4});
  CHECK(result_of(kRotary + "1x1x2x2{1,2,3,4} int64:1x2{0,1} " + kCaches) == Floats{1, 2, -4, 3});
}

TEST_CASE("com.microsoft's RotaryEmbedding counts from one place for all samples") {
  CHECK(result_of(kRotary + "2x2x2{1,2,1,2,3,4,3,4} int64:{1} " + kCaches) ==
        Floats{-2, 1, -1, -2, -4, 3, -3, -4});
}

TEST_CASE("com.microsoft's RotaryEmbedding leaves what is not to be turned") {
  CHECK(result_of(kRotary + "1x1x4{1,2,3,4} int64:{1} " + kCaches +
                  "rotary_embedding_dim=2 num_heads=1") == Floats{-2, 1, 3, 4});
}

TEST_CASE("com.microsoft's RotaryEmbedding refuses places beyond its caches, and packed batches") {
  CHECK_THROWS_AS(run_case(kRotary + "1x2x2 int64:{2} " + kCaches), ValueError);
  CHECK_THROWS_AS(run_case(kRotary + "1x2x2 int64:{0,1} " + kCaches), ShapeError);
  CHECK_THROWS_AS(run_case(kRotary + "1x2x2 int64:{0} " + kCaches + "is_packed_batching=1"),
                  Unsupported);
}

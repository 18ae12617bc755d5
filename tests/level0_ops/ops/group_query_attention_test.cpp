// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

const std::string kGroupQuery = "com.microsoft.GroupQueryAttention ";
const std::string kOneHead = " num_heads=1 kv_num_heads=1 outputs=3";

Floats values_of(const OperatorRunner& run, std::size_t k) {
  const auto values = run.output(k).tensor().span<float>();
  return {values.begin(), values.end()};
}

}  // namespace

// Queries and keys are zero: each query sees the mean of what is visible.
TEST_CASE("GroupQueryAttention begins with a prompt, of which nothing sees what comes later") {
  const std::string prompt =
      kGroupQuery + "1x3x1{0,0,0} 1x3x1{0,0,0} 1x3x1{1,3,8} - - int32:{2} int32:{3}" + kOneHead;
  CHECK(result_of(prompt) == Floats{1, 2, 4});
  CHECK(result_of(prompt, 2) == Floats{1, 3, 8});
  CHECK(result_of(prompt + " local_window_size=2") == Floats{1, 2, 5.5f});
}

TEST_CASE("GroupQueryAttention goes on behind each sample's last token, in a cache that may grow") {
  // The first sample has two tokens before this one, the second has one and a place that is free.
  const auto run = run_case(kGroupQuery +
                            "2x1x1{0,0} 2x1x1{5,6} 2x1x1{9,4} 2x1x2x1{1,2,3,0} "
                            "2x1x2x1{1,2,8,100} int32:{2,1} int32:{3}" +
                            kOneHead);
  CHECK(values_of(run, 0) == Floats{4, 6});
  CHECK(values_of(run, 1) == Floats{1, 2, 5, 3, 6, 0});
  CHECK(values_of(run, 2) == Floats{1, 2, 9, 8, 4, 0});
}

TEST_CASE("GroupQueryAttention keeps a cache that has room") {
  CHECK(
      result_of(kGroupQuery +
                    "1x1x1{0} 1x1x1{5} 1x1x1{9} 1x1x3x1{1,0,0} 1x1x3x1{1,0,0} int32:{1} int32:{2}" +
                    kOneHead,
                1) == Floats{1, 5, 0});
}

TEST_CASE("GroupQueryAttention serves several heads of queries by one of keys, packed or not") {
  const std::string rest = " - - int32:{0} int32:{1} num_heads=2 kv_num_heads=1";
  CHECK(result_of(kGroupQuery + "1x1x2{0,0} 1x1x1{0} 1x1x1{7}" + rest) == Floats{7, 7});
  CHECK(result_of(kGroupQuery + "1x1x4{0,0,0,7} - -" + rest) == Floats{7, 7});
}

TEST_CASE("GroupQueryAttention turns queries and keys by their places") {
  // A quarter turn at place 1.
  CHECK(result_of(
            kGroupQuery +
                "1x1x2{0,0} 1x1x2{1,2} 1x1x2{0,0} 1x1x1x2{3,4} 1x1x1x2{0,0} int32:{1} int32:{2} "
                "2x1{1,0} 2x1{0,1} do_rotary=1" +
                kOneHead,
            1) == Floats{3, 4, -2, 1});
}

TEST_CASE("GroupQueryAttention refuses what it cannot do") {
  CHECK_THROWS_AS(run_case(kGroupQuery +
                           "1x1x3 1x1x1 1x1x1 - - int32:{0} int32:{1} num_heads=3 kv_num_heads=2"),
                  ValueError);
  CHECK_THROWS_AS(run_case(kGroupQuery +
                           "1x1x3 1x1x1 1x1x1 - - int32:{0} int32:{1} num_heads=2 kv_num_heads=1"),
                  ShapeError);
  CHECK_THROWS_AS(run_case(kGroupQuery +
                           "1x1x1 1x1x1 1x1x1 - - int32:{0} int32:{1} smooth_softmax=1" + kOneHead),
                  Unsupported);
  CHECK_THROWS_AS(
      run_case(kGroupQuery + "1x1x1 1x1x1 1x1x1 - - int32:{0} int32:{1} do_rotary=1" + kOneHead),
      ShapeError);
}

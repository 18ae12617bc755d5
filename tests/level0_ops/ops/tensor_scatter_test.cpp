// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("TensorScatter writes the slices of each sample from its index on") {
  const std::string line = "TensorScatter 2x3x1{0,1,2,3,4,5} 2x2x1{6,7,8,9}";
  CHECK(result_of(line) == Floats{6, 7, 2, 8, 9, 5});
  CHECK(result_of(line + " int64:{1,0}") == Floats{0, 6, 7, 8, 9, 5});
  CHECK(result_of("TensorScatter 1x2x3{0,1,2,3,4,5} 1x2x1{6,7} int64:{2} axis=-1") ==
        Floats{0, 1, 6, 3, 4, 7});
}

TEST_CASE("TensorScatter goes on at the start of a circular cache, whatever the index is") {
  const auto from = [](const std::string& index) {
    return result_of("TensorScatter 1x3x1{0,1,2} 1x2x1{6,7} int64:{" + index + "} mode=circular");
  };
  CHECK(from("2") == Floats{7, 1, 6});
  CHECK(from("4") == Floats{0, 6, 7});
  CHECK(from("-1") == Floats{7, 1, 6});
  CHECK(from("-9223372036854775808") == Floats{0, 6, 7});  // 1 modulo 3
}

TEST_CASE("TensorScatter takes caches and updates without elements") {
  CHECK(result_of("TensorScatter 1x2x1{3,4} 1x0x1 int64:{2}") == Floats{3, 4});
  CHECK(shape_of("TensorScatter 1x0x1 1x0x1 int64:{7} mode=circular") == "1x0x1");
  CHECK(shape_of("TensorScatter 0x2x1 0x1x1 int64:0") == "0x2x1");
}

TEST_CASE("TensorScatter refuses what does not fit into the cache") {
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 1x2x1 int64:{2}"), ValueError);
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 1x2x1 int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 1x4x1"), ShapeError);
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 1x2x2"), ShapeError);
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 2x1"), ShapeError);
  CHECK_THROWS_AS(run_case("TensorScatter 2x3x1 2x2x1 int64:{0}"), ShapeError);
  CHECK_THROWS_AS(run_case("TensorScatter 2x3 2x3"), ValueError);
  CHECK_THROWS_AS(run_case("TensorScatter 1x3x1 1x2x1 mode=round"), ValueError);
}

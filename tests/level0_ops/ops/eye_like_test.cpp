// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

TEST_CASE("EyeLike has ones on the diagonal that k says") {
  CHECK(result_of("EyeLike 2x3") == Floats{1, 0, 0, 0, 1, 0});
  CHECK(result_of("EyeLike 2x3 k=1") == Floats{0, 1, 0, 0, 0, 1});
  CHECK(result_of("EyeLike 3x2 k=-1") == Floats{0, 0, 1, 0, 0, 1});
  CHECK(result_of("EyeLike 2x2 k=9223372036854775807") == Floats(4, 0.0f));
  CHECK(result_of("EyeLike 2x2 k=-9223372036854775808") == Floats(4, 0.0f));
}

TEST_CASE("EyeLike has the type of its input, or the one that is asked for") {
  CHECK(result_of<bool>("EyeLike bool:2x2") == std::vector<bool>{true, false, false, true});
  CHECK(result_of<std::int8_t>("EyeLike 1x2 dtype=3") == std::vector<std::int8_t>{1, 0});
  CHECK(shape_of("EyeLike 0x3") == "0x3");
}

TEST_CASE("EyeLike refuses what is no matrix, and types without a one") {
  CHECK_THROWS_AS(run_case("EyeLike 3"), ShapeError);
  CHECK_THROWS_AS(run_case("EyeLike 2x2 dtype=0"), ValueError);
  CHECK_THROWS_AS(run_case("EyeLike 2x2 dtype=99"), ValueError);
  CHECK_THROWS_AS(run_case("EyeLike 2x2 dtype=8"), Unsupported);
}

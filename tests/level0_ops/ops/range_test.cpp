// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

TEST_CASE("Range ends before its limit, upwards and downwards") {
  CHECK(result_of("Range scalar{3} scalar{9} scalar{3}") == std::vector<float>{3, 6});
  CHECK(result_of("Range scalar{1} scalar{2.25} scalar{0.5}") == std::vector<float>{1, 1.5, 2});
  CHECK(result_of<std::int32_t>("Range int32:scalar{10} int32:scalar{4} int32:scalar{-2}") ==
        std::vector<std::int32_t>{10, 8, 6});
}

TEST_CASE("Range is empty where its steps lead away from the limit, or there is no way to go") {
  CHECK(shape_of("Range scalar{3} scalar{1} scalar{1}") == "0");
  CHECK(shape_of("Range int64:scalar{3} int64:scalar{4} int64:scalar{-1}") == "0");
  CHECK(shape_of("Range int64:scalar{3} int64:scalar{3} int64:scalar{1}") == "0");
}

TEST_CASE("Range reaches both ends of the integers") {
  CHECK(result_of<std::int64_t>("Range int64:scalar{-9223372036854775808} "
                                "int64:scalar{9223372036854775807} "
                                "int64:scalar{4611686018427387904}") ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -(1LL << 62), 0,
                                  1LL << 62});
  CHECK(result_of<std::int64_t>("Range int64:scalar{9223372036854775807} int64:scalar{-2} "
                                "int64:scalar{-9223372036854775808}") ==
        std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), -1});
  CHECK(result_of<std::int16_t>("Range int16:scalar{32765} int16:scalar{32767} int16:scalar{1}") ==
        std::vector<std::int16_t>{32765, 32766});
}

TEST_CASE("Range computes short floats in float and rounds each number once") {
  // Above 2048 float16 has every second integer: a sum of ones would stay there.
  const auto y =
      result_of<Float16>("Range float16:scalar{2047} float16:scalar{2052} float16:scalar{1}");
  CHECK(std::vector<float>(y.begin(), y.end()) == std::vector<float>{2047, 2048, 2048, 2050, 2052});
}

TEST_CASE("Range refuses what has no number of elements") {
  CHECK_THROWS_AS(run_case("Range scalar{0} scalar{1} scalar{0}"), ValueError);
  CHECK_THROWS_AS(run_case("Range int64:scalar{0} int64:scalar{1} int64:scalar{0}"), ValueError);
  CHECK_THROWS_AS(run_case("Range scalar{0} scalar{nan} scalar{1}"), ValueError);
  CHECK_THROWS_AS(run_case("Range scalar{0} scalar{inf} scalar{1}"), ValueError);
  CHECK_THROWS_AS(run_case("Range int64:scalar{-9223372036854775808} "
                           "int64:scalar{9223372036854775807} int64:scalar{1}"),
                  ValueError);
  CHECK_THROWS_AS(run_case("Range {0,1} scalar{1} scalar{1}"), ShapeError);
  CHECK_THROWS_AS(run_case("Range scalar{0} scalar{1} scalar{1} stash_type=7"), ValueError);
}

TEST_CASE("Range of more than there is memory is refused before it is made") {
  CHECK_THROWS_AS(run_case("Range int64:scalar{0} int64:scalar{4611686018427387904} "
                           "int64:scalar{1}"),
                  Error);
}

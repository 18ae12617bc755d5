// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

TEST_CASE("Unique sorts, and says where each comes from, where it went and how often it was") {
  const std::string line = "Unique {2,1,1,3,4,3} outputs=4";
  CHECK(result_of(line, 0) == Floats{1, 2, 3, 4});
  CHECK(result_of<std::int64_t>(line, 1) == Integers{1, 0, 3, 4});
  CHECK(result_of<std::int64_t>(line, 2) == Integers{1, 0, 0, 2, 3, 2});
  CHECK(result_of<std::int64_t>(line, 3) == Integers{2, 1, 2, 1});
}

TEST_CASE("Unique keeps the order in which elements appear where it does not sort") {
  const std::string line = "Unique {2,1,1,3,4,3} sorted=0 outputs=4";
  CHECK(result_of(line, 0) == Floats{2, 1, 3, 4});
  CHECK(result_of<std::int64_t>(line, 1) == Integers{0, 1, 3, 4});
  CHECK(result_of<std::int64_t>(line, 2) == Integers{0, 1, 1, 2, 3, 2});
  CHECK(result_of<std::int64_t>(line, 3) == Integers{1, 2, 2, 1});
}

TEST_CASE("Unique compares slices along an axis") {
  const std::string line = "Unique 2x4{1,0,1,1,3,2,3,2} axis=-1 outputs=4";
  CHECK(result_of(line, 0) == Floats{0, 1, 1, 2, 2, 3});
  CHECK(result_of<std::int64_t>(line, 1) == Integers{1, 3, 0});
  CHECK(result_of<std::int64_t>(line, 2) == Integers{2, 0, 2, 1});
  CHECK(result_of<std::int64_t>(line, 3) == Integers{1, 1, 2});
  CHECK(result_of(line + " sorted=0") == Floats{1, 0, 1, 3, 2, 2});
}

TEST_CASE("Unique takes words, truths and short floats; all NaN are one, and zero has no sign") {
  CHECK(result_of<std::string>("Unique string:{b,a,b}") == std::vector<std::string>{"a", "b"});
  CHECK(result_of<bool>("Unique bool:{1,0,1}") == std::vector<bool>{false, true});
  const auto y = result_of<Float16>("Unique float16:{0,nan,-2,nan,-0.0}");
  REQUIRE(y.size() == 3);
  CHECK(float(y[0]) == -2);
  CHECK(float(y[1]) == 0);
  CHECK(float(y[2]) != float(y[2]));
}

TEST_CASE("Unique of nothing is nothing; of slices without elements, one is left") {
  CHECK(shape_of("Unique 2x0") == "0");
  CHECK(shape_of("Unique 2x0 axis=1 outputs=4", 3) == "0");
  CHECK(shape_of("Unique 3x0 axis=0") == "1x0");
  CHECK_THROWS_AS(run_case("Unique 3 axis=1"), ValueError);
  CHECK_THROWS_AS(run_case("Unique 0x4611686018427387904 axis=1"), Error);
}

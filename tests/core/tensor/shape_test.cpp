// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/shape.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;

TEST_CASE("a shape counts its elements") {
  CHECK(Shape{}.elements() == 1);
  CHECK(Shape{2, 3, 4}.elements() == 24);
  CHECK(Shape{2, 0, 4}.elements() == 0);
  CHECK(Shape{2, 3, 4}.elements(1, 3) == 12);
}

TEST_CASE("a product above 2^63 - 1 is an error, also beside a zero") {
  const std::int64_t big = std::int64_t{1} << 40, half = std::int64_t{1} << 31;
  CHECK_THROWS_AS((Shape{big, big}.elements()), ShapeError);
  // Its strides would not fit. NumPy refuses it, too.
  CHECK_THROWS_WITH((Shape{big, big, 0}.elements()),
                    "shape 1099511627776x1099511627776x0 is too large: the product of its "
                    "nonzero sizes exceeds 2^63 - 1");
  CHECK_THROWS_AS((Shape{0, half, 2 * half}.elements()), ShapeError);
  CHECK(Shape{half, half}.elements() == half * half);
  CHECK(Shape{0, half, half}.elements() == 0);
}

TEST_CASE("unknown and negative sizes have no number of elements") {
  CHECK_FALSE(Shape{2, kUnknownDim}.is_static());
  CHECK_THROWS_WITH((Shape{2, kUnknownDim}.elements()), "shape 2x? has no number of elements");
  CHECK_THROWS_AS((Shape{-5}.elements()), ShapeError);
}

TEST_CASE("strides are those of a dense row-major array") {
  CHECK(Shape{2, 3, 4}.strides() == std::vector<std::int64_t>{12, 4, 1});
  CHECK(Shape{}.strides().empty());
}

TEST_CASE("shapes broadcast as NumPy's do") {
  CHECK(broadcast({2, 3}, {3}) == Shape{2, 3});
  CHECK(broadcast({8, 1, 6, 1}, {7, 1, 5}) == Shape{8, 7, 6, 5});
  CHECK(broadcast({}, {4}) == Shape{4});
  CHECK(broadcast({0}, {1}) == Shape{0});
  CHECK_THROWS_AS(broadcast({2, 3}, {2}), ShapeError);
  CHECK_THROWS_AS(broadcast({0}, {2}), ShapeError);
}

TEST_CASE("a negative axis counts from the back, and must exist") {
  CHECK(normalize_axis(-1, 3, "Softmax") == 2);
  CHECK(normalize_axis(-3, 3, "Softmax") == 0);
  CHECK_THROWS_WITH(normalize_axis(3, 3, "Softmax"),
                    "Softmax: axis is 3, expected one in [-3, 2] for 3 dimensions");
  CHECK_THROWS_AS(normalize_axis(INT64_MIN, 3, "Softmax"), ValueError);
  CHECK_THROWS_AS(normalize_axis(0, 0, "Softmax"), ValueError);
}

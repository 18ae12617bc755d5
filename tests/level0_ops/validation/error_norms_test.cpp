// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/validation/error_norms.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Tensor floats(std::vector<float> values) { return Tensor::vector(values); }

}  // namespace

TEST_CASE("norms of a difference are those that a person computes") {
  Tensor got = Tensor::zeros(DType::float64, {2, 2}), expected = got.copy();
  const double a[] = {1, 2, 3, 4}, b[] = {1, 5, 3, 0};
  std::copy(a, a + 4, got.data<double>());
  std::copy(b, b + 4, expected.data<double>());
  const ErrorNorms norms = error_norms(got, expected);
  CHECK(norms.l1 == 7);
  CHECK(norms.l2 == 5);
  CHECK(norms.l_infinity == 4);
  CHECK(norms.relative_l1 == Approx(7.0 / 9));
  CHECK(norms.relative_l2 == Approx(5 / std::sqrt(35.0)));
  CHECK(norms.relative_l_infinity == Approx(4.0 / 5));
  CHECK(norms.place == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("a distance in units in the last place counts the numbers between") {
  const auto ulp = [](float a, float b) { return error_norms(floats({a}), floats({b})).ulp; };
  const float next = std::nextafter(1.0f, 2.0f), least = std::numeric_limits<float>::denorm_min();
  CHECK(ulp(1, 1) == 0);
  CHECK(ulp(1, next) == 1);
  CHECK(ulp(next, 1) == 1);
  CHECK(ulp(1, 2) == 0x1p23);  // all significands of one exponent
  CHECK(ulp(0.0f, -0.0f) == 0);
  CHECK(ulp(least, -least) == 2);
  CHECK(ulp(kNan, kNan) == 0);
  CHECK(ulp(kNan, 1) == kInfinity);
  CHECK(ulp(std::numeric_limits<float>::max(), kInfinity) == 1);
  const auto half = [](float a, float b) {
    const auto one = [](float x) { return Tensor::vector(std::vector<Float16>{Float16(x)}); };
    return error_norms(one(a), one(b)).ulp;
  };
  CHECK(half(1, 2) == 0x1p10);
}

TEST_CASE("what is the same differs by nothing, and NaN against a number by no number") {
  const auto same = error_norms(floats({kNan, kInfinity, 0}), floats({kNan, kInfinity, 0}));
  CHECK(same.l1 == 0);
  CHECK(same.relative_l2 == 0);
  CHECK(same.place.empty());
  const auto other = error_norms(floats({1, kNan, 2}), floats({5, 1, 2}));
  CHECK(std::isnan(other.l1));
  CHECK(std::isnan(other.l_infinity));
  CHECK(other.place == std::vector<std::int64_t>{1});
  CHECK(error_norms(Tensor::zeros(DType::float32, {0}), Tensor::zeros(DType::float32, {0})).l2 ==
        0);
  CHECK_THROWS_AS(error_norms(floats({1}), floats({1, 2})), ShapeError);
  CHECK_THROWS_AS(error_norms(floats({1}), Tensor::vector(std::vector<double>{1})), TypeError);
}

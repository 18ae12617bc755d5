// SPDX-License-Identifier: Apache-2.0
#include "d5/core/student.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "d5/core/error.hpp"

using namespace d5;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the mean's interval is Student's") {
  // SciPy 1.17: t.interval(0.95, 4, mean, sem).
  const Estimate mean = mean_with_interval(std::vector{3.1, 2.9, 3.4, 3.0, 3.3});
  CHECK(mean.value == Approx(3.14));
  CHECK(mean.interval.low == Approx(2.882523073207092).epsilon(1e-12));
  CHECK(mean.interval.high == Approx(3.3974769267929075).epsilon(1e-12));
  CHECK(std::isnan(mean_with_interval(std::vector{1.0}).interval.low));
  CHECK(std::isnan(mean_with_interval(std::vector{1.0, kInfinity}).value));
  CHECK(std::isnan(mean_with_interval({}).value));
  CHECK_THROWS_AS(mean_with_interval(std::vector{1.0, 2.0}, 1.0), ValueError);
}

TEST_CASE("the olympic mean drops the fastest and the slowest") {
  CHECK(olympic_mean(std::vector{5.0, 1.0, 3.0, 100.0, 4.0}) == 4);
  CHECK(olympic_mean(std::vector{2.0, 9.0, kInfinity}) == 9);
  CHECK(std::isinf(olympic_mean(std::vector{2.0, 9.0, kInfinity, kInfinity})));
  CHECK(std::isnan(olympic_mean(std::vector{1.0, 2.0})));
}

TEST_CASE("Welch's test tells which mean is smaller") {
  // SciPy 1.17: ttest_ind(a, b, equal_var=False, alternative="less").
  const std::vector a{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                      21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const std::vector b{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                      24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4};
  CHECK(is_smaller_p_value(a, b) == Approx(0.004035969086097452).epsilon(1e-9));
  CHECK(is_smaller_p_value(b, a) == Approx(1 - 0.004035969086097452).epsilon(1e-9));
  CHECK(is_smaller_p_value(std::vector{1.0, 1.0}, std::vector{2.0, 2.0}) == 0);
  CHECK(is_smaller_p_value(std::vector{2.0, 2.0}, std::vector{2.0, 2.0}) == 1);
  CHECK(std::isnan(is_smaller_p_value(std::vector{1.0}, b)));
}

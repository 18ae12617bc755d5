// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/student.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "d5/core/errors/error.hpp"

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

TEST_CASE("an estimate of groups has the interval of their medians' logarithms") {
  // Medians 1, e and e^2: a mean logarithm of 1, a standard error of 1 / sqrt(3), and Student's t
  // for two degrees of freedom.
  const double e = std::exp(1.0);
  const std::vector<std::vector<double>> groups = {{1, 1, 50}, {e}, {e * e, 0.1, 90}};
  const Estimate estimate = estimate_of_groups(groups);
  CHECK(estimate.value == Approx(e));
  CHECK(std::log(estimate.interval.high) == Approx(1 + 4.302653 / std::sqrt(3.0)).epsilon(1e-6));
  CHECK(estimate_of_groups(std::vector<std::vector<double>>{{3.0, 1.0, 2.0}}).value == 2);
  CHECK(std::isnan(estimate_of_groups({}).value));
}

TEST_CASE("the olympic mean drops the fastest and the slowest") {
  CHECK(olympic_mean(std::vector{5.0, 1.0, 3.0, 100.0, 4.0}) == 4);
  CHECK(olympic_mean(std::vector{2.0, 9.0, kInfinity}) == 9);
  CHECK(std::isinf(olympic_mean(std::vector{2.0, 9.0, kInfinity, kInfinity})));
  CHECK(std::isnan(olympic_mean(std::vector{1.0, 2.0})));
}

TEST_CASE("Student's test tells whether a mean differs, as its interval does") {
  // SciPy 1.17: ttest_1samp(ratios, 1).
  const std::vector ratios{1.02, 0.99, 1.05, 1.01, 1.03};
  CHECK(differs_p_value(ratios, 1) == Approx(0.11611652351681556).epsilon(1e-9));
  const Interval interval = mean_with_interval(ratios).interval;
  CHECK(differs_p_value(ratios, interval.low) == Approx(0.05));
  CHECK(differs_p_value(ratios, interval.high) == Approx(0.05));
  CHECK(std::isnan(differs_p_value(std::vector{1.0}, 1)));
  CHECK(std::isnan(differs_p_value(std::vector{1.0, kInfinity}, 1)));
  CHECK(differs_p_value(std::vector{1.0, 1.0}, 1) == 1);
  CHECK(differs_p_value(std::vector{2.0, 2.0}, 1) == 0);
}

TEST_CASE("Welch's test tells which mean is smaller") {
  // SciPy 1.17: ttest_ind(a, b, equal_var=False, alternative="less").
  const std::vector a{27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                      21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
  const std::vector b{27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                      24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 24.4};
  CHECK(is_smaller_p_value(a, b) == Approx(0.004035969086097452).epsilon(1e-9));
  CHECK(is_smaller_p_value(b, a) == Approx(1 - 0.004035969086097452).epsilon(1e-9));
  CHECK(std::isnan(is_smaller_p_value(std::vector{1.0}, b)));
}

TEST_CASE("samples that do not vary are told apart by their means, and equal ones not at all") {
  const std::vector ones{1.0, 1.0}, twos{2.0, 2.0};
  CHECK(is_smaller_p_value(ones, twos) == 0);
  CHECK(is_smaller_p_value(twos, ones) == 1);
  CHECK(is_smaller_p_value(twos, twos) == 0.5);
  // A sum of tenths is rounded otherwise for each number of them; their mean is not.
  const std::vector<double> few(3, 0.1), many(10, 0.1);
  CHECK(is_smaller_p_value(few, many) == 0.5);
  CHECK(is_smaller_p_value(many, few) == 0.5);
  CHECK(mean_with_interval(many).value == 0.1);
  CHECK(mean_with_interval(many).interval.low == 0.1);
  // The limit: the same as of samples that hardly vary.
  const double hardly = 1e-9;
  CHECK(is_smaller_p_value(std::vector{1 - hardly, 1 + hardly}, twos) < 1e-6);
  CHECK(is_smaller_p_value(std::vector{2 - hardly, 2 + hardly}, twos) == Approx(0.5));
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/geometric_mean.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"

using namespace d5;

TEST_CASE("the geometric mean of twice and half is one, whichever side is the base") {
  CHECK(geometric_mean(std::vector{2.0, 0.5}).value == Approx(1));
  CHECK(geometric_mean(std::vector{1.0, 2.0, 4.0}).value == Approx(2));
  CHECK(geometric_mean(std::vector{1.0, 0.5, 0.25}).value == Approx(0.5));
}

TEST_CASE("its interval is Student's, of the logarithms") {
  // Logarithms -2 to 2: deviation sqrt(5/2), standard error sqrt(1/2); t(0.975, 4) = 2.776445 by
  // tables.
  const std::vector ratios{std::exp(-2.0), std::exp(-1.0), 1.0, std::exp(1.0), std::exp(2.0)};
  const Estimate mean = geometric_mean(ratios);
  CHECK(mean.interval.high == Approx(std::exp(2.776445 * std::sqrt(0.5))));
  CHECK(mean.interval.low == Approx(std::exp(-2.776445 * std::sqrt(0.5))));
  CHECK(mean.confidence == 0.95);
}

TEST_CASE("four ratios tell nothing of others: no interval") {
  const Estimate mean = geometric_mean(std::vector{1.0, 2.0, 4.0, 8.0});
  CHECK(mean.value == Approx(std::pow(2, 1.5)));
  CHECK(std::isnan(mean.interval.low));
  CHECK(std::isnan(mean.interval.high));
}

TEST_CASE("one ratio has no interval, and what is no positive number has no mean") {
  const Estimate one = geometric_mean(std::vector{3.0});
  CHECK(one.value == Approx(3));
  CHECK(std::isnan(one.interval.low));
  CHECK(std::isnan(geometric_mean({}).value));
  CHECK(std::isnan(geometric_mean(std::vector{1.0, 0.0}).value));
  CHECK(std::isnan(geometric_mean(std::vector<double>{1.0, NAN}).value));
  CHECK_THROWS_AS(geometric_mean(std::vector{1.0}, 1), ValueError);
}

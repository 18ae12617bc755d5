// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/statistics.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

using namespace d5;

namespace {

/// 1, 2, ..., n backwards: the k-th smallest is k.
std::vector<double> ranks(int n) {
  std::vector<double> result(static_cast<std::size_t>(n));
  std::iota(result.rbegin(), result.rend(), 1.0);
  return result;
}

}  // namespace

TEST_CASE("order statistics of a few numbers are those that a person finds") {
  const Summary odd = summarise(std::vector<double>{5, 1, 4, 2, 3});
  CHECK(odd.count == 5);
  CHECK(odd.minimum == 1);
  CHECK(odd.maximum == 5);
  CHECK(odd.mean == 3);
  CHECK(odd.median == 3);
  CHECK(odd.first_quartile == 2);
  CHECK(odd.third_quartile == 4);
  const Summary even = summarise(std::vector<double>{4, 1, 3, 2});
  CHECK(even.median == 2.5);
  CHECK(even.first_quartile == 1.75);
}

// Ranks from Le Boudec, "Performance Evaluation of Computer and Communication Systems", appendix A,
// table of the median at level 95%; probabilities by hand from the binomial coefficients.
TEST_CASE("the median's interval has the ranks of the published table") {
  const auto interval = [](int n) { return summarise(ranks(n)).median_interval; };
  CHECK(interval(6).low == 1);
  CHECK(interval(6).high == 6);
  CHECK(interval(10).low == 2);
  CHECK(interval(10).high == 9);
  CHECK(interval(20).low == 6);
  CHECK(interval(20).high == 15);
  CHECK(interval(30).low == 10);
  CHECK(interval(30).high == 21);
  CHECK(interval(70).low == 27);
  CHECK(interval(70).high == 44);
  CHECK(summarise(ranks(6)).confidence == Approx(1 - 2.0 / 64).epsilon(1e-12));
  CHECK(summarise(ranks(10)).confidence == Approx(1 - 22.0 / 1024).epsilon(1e-12));
}

TEST_CASE("five samples allow no interval of the median at 95%, but one at 90%") {
  CHECK(std::isnan(summarise(ranks(5)).median_interval.low));
  CHECK(std::isnan(summarise(ranks(5)).median_interval.high));
  const Summary lower = summarise(ranks(5), 0.9);
  CHECK(lower.median_interval.low == 1);
  CHECK(lower.median_interval.high == 5);
  CHECK(lower.confidence == Approx(1 - 2.0 / 32).epsilon(1e-12));
}

TEST_CASE("the interval of an extreme quantile needs many samples") {
  // The largest of n samples is above the quantile 0.9 with probability 1 - 0.9^n; 97.5% takes 36.
  CHECK(std::isnan(quantile_interval(ranks(35), 0.9).high));
  CHECK(quantile_interval(ranks(36), 0.9).high == 36);
  const Interval low = quantile_interval(ranks(36), 0.1);
  CHECK(low.low == 1);
}

TEST_CASE("intervals cover the true median as often as they say") {
  // 4,000 sets of 30 exponential samples, whose median is ln 2. Ranks 10 and 21 cover with
  // probability 0.9572; four standard errors of the frequency are 0.013.
  int covered = 0;
  const int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream random(20180901, std::uint32_t(trial));
    std::vector<double> samples(30);
    for (auto& x : samples) x = -std::log(1 - random.uniform_double());
    const Interval interval = summarise(samples).median_interval;
    covered += interval.low <= std::log(2.0) && std::log(2.0) <= interval.high;
  }
  CHECK(std::abs(double(covered) / trials - 0.9572) < 0.013);
}

TEST_CASE("no samples, one sample and NaN make no false numbers") {
  CHECK(std::isnan(summarise({}).median));
  CHECK(summarise({}).count == 0);
  const Summary one = summarise(std::vector<double>{7});
  CHECK(one.median == 7);
  CHECK(one.third_quartile == 7);
  CHECK(std::isnan(one.median_interval.low));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(summarise(std::vector<double>{1, nan, 2}).median));
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(summarise(std::vector<double>{1, infinity, 2}).median == 2);
  CHECK(summarise(std::vector<double>{infinity, infinity}).median == infinity);
  CHECK_THROWS_AS(summarise(std::vector<double>{1}, 1.0), ValueError);
  CHECK_THROWS_AS(quantile_interval(std::vector<double>{1}, 0.0), ValueError);
}

TEST_CASE("a statistic is the number that its name says") {
  const std::vector<double> samples = {4, 1, 2, 8};
  const auto value = [&](const char* name, Direction direction = Direction::lower_is_better) {
    const auto statistic = statistic_from(name);
    REQUIRE(statistic);
    CHECK(to_string(*statistic) == name);
    return estimate(samples, *statistic, direction).value;
  };
  CHECK(value("median") == 3);
  CHECK(value("p25") == 1.75);
  CHECK(value("p99.9") == Approx(4 + 4 * 0.997));
  CHECK(value("mean") == 3.75);
  CHECK(value("maximum") == 8);
  CHECK(value("rate") == Approx(4 / (0.25 + 1 + 0.5 + 0.125)));
  CHECK(value("last") == 8);
  CHECK(value("best") == 1);
  CHECK(value("best", Direction::higher_is_better) == 8);
  CHECK(value("single") == 8);
  for (const char* unknown : {"", "mode", "p", "p0", "p100", "p-1", "p9x", "medians"}) {
    CHECK_FALSE(statistic_from(unknown));
  }
}

TEST_CASE("a quantile has its own interval") {
  const auto samples = ranks(1000);
  const Estimate p90 = estimate(samples, {.quantile = 0.9});
  const Interval interval = quantile_interval(samples, 0.9);
  CHECK(p90.value == Approx(900.1));
  CHECK(p90.interval.low == interval.low);
  CHECK(p90.interval.high == interval.high);
  CHECK(p90.confidence >= 0.95);
  CHECK(std::isnan(estimate(samples, {.of = Statistic::Of::mean}).interval.low));
  CHECK_THROWS_AS(estimate(samples, {.quantile = 1.5}), ValueError);
}

TEST_CASE("a share has the interval of Clopper and Pearson") {
  // No yes in n: the bound solves (1 - p)^n = 0.025; all yes: p^n = 0.025.
  const Statistic share{.of = Statistic::Of::share};
  const Estimate none = estimate(std::vector<double>(10, 0.0), share);
  CHECK(none.value == 0);
  CHECK(none.interval.low == 0);
  CHECK(none.interval.high == Approx(1 - std::pow(0.025, 0.1)));
  const Estimate all = estimate(std::vector<double>(10, 1.0), share);
  CHECK(all.interval.low == Approx(std::pow(0.025, 0.1)));
  CHECK(all.interval.high == 1);
  // Half of ten: 0.1871 to 0.8129 in every table of binomial limits.
  const Estimate half = estimate(std::vector<double>{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, share);
  CHECK(half.value == 0.5);
  CHECK(half.interval.low == Approx(0.1871).margin(5e-5));
  CHECK(half.interval.high == Approx(0.8129).margin(5e-5));
  CHECK(std::isnan(estimate(std::vector<double>{0.2, 0.4}, share).interval.low));
}

TEST_CASE("NaN spoils every statistic but those that look at one sample") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> samples = {nan, 2};
  CHECK(std::isnan(estimate(samples).value));
  CHECK(estimate(samples, {.of = Statistic::Of::last}).value == 2);
  CHECK(std::isnan(estimate(std::vector<double>{}, {.of = Statistic::Of::last}).value));
}

TEST_CASE("the rank test of small samples is exact") {
  // 3 against 3 samples, all of one below all of the other: 2 of the 20 orders are as extreme.
  CHECK(rank_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}) == Approx(0.1));
  // U = 1: 2 of 20 orders on each side (U = 0 and U = 1).
  CHECK(rank_test(std::vector<double>{1, 2, 4}, std::vector<double>{3, 5, 6}) == Approx(0.2));
  // 8 against 8: P(U <= 13) = 0.0249 in Mann and Whitney's table, 13 being the critical value at
  // 5% two-sided, and 14 is above it.
  const std::vector<double> a{1, 2, 3, 4, 5, 6, 9, 15};
  const std::vector<double> b{7, 8, 10, 11, 12, 13, 14, 16};
  double u = 0;
  for (const double x : a)
    u += double(std::count_if(b.begin(), b.end(), [&](double y) { return x > y; }));
  REQUIRE(u == 9);
  CHECK(rank_test(a, b) < 0.05);
  CHECK(rank_test(a, b) == Approx(rank_test(b, a)));
}

TEST_CASE("critical values of the rank test are those of the published tables") {
  // Two-sided 5%: U = 23 for 10 against 10 and 127 for 20 against 20 are significant, one more is
  // not.
  const auto with_u = [](int n, int u) {
    // b is 1..n; each sample of a is above `wins` samples of b.
    std::vector<double> a, b;
    for (int i = 1; i <= n; ++i) b.push_back(i);
    for (int i = 0; i < n; ++i) {
      const int wins = std::min(n, u);
      u -= wins;
      a.push_back(wins + 0.5 + 0.001 * i);
    }
    return rank_test(a, b);
  };
  CHECK(with_u(10, 23) < 0.05);
  CHECK(with_u(10, 24) > 0.05);
  CHECK(with_u(20, 127) < 0.05);
  CHECK(with_u(20, 128) > 0.05);
  CHECK(with_u(8, 13) < 0.05);
  CHECK(with_u(8, 14) > 0.05);
}

TEST_CASE("the rank test of many samples, with ties, is the corrected normal approximation") {
  // Computed by hand: 30 zeros and 30 ones against 60 ones: U = 30 * 60 / 2 = 900, mean 1800; ties
  // of 30 and 90 samples; variance = 60 * 60 / 12 * (121 - (30^3 - 30 + 90^3 - 90) / (120 * 119)).
  std::vector<double> a(60, 1.0);
  std::fill(a.begin(), a.begin() + 30, 0.0);
  const std::vector<double> b(60, 1.0);
  const double variance = 300 * (121 - (26970.0 + 728910.0) / 14280);
  CHECK(rank_test(a, b) == Approx(std::erfc(899.5 / std::sqrt(2 * variance))).epsilon(1e-12));
  CHECK(rank_test(b, b) == 1);
}

TEST_CASE("under one distribution the rank test rejects as often as it says") {
  int rejected = 0;
  const int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    RandomStream random(11, std::uint32_t(trial));
    std::vector<double> a(30), b(30);
    for (auto& x : a) x = random.normal_double();
    for (auto& x : b) x = random.normal_double();
    rejected += rank_test(a, b) < 0.05;
  }
  // Four standard errors of a frequency of 5%: 0.0138.
  CHECK(std::abs(double(rejected) / trials - 0.05) < 0.0138);
}

TEST_CASE("paired samples are compared by the ratio of neighbours, which drift does not reach") {
  std::vector<double> a, b;
  for (int i = 0; i < 30; ++i) {
    const double drift = 1 + i;  // the machine becomes 30 times slower
    a.push_back(1.1 * drift);
    b.push_back(1.0 * drift);
  }
  const Comparison result = compare(a, b);
  CHECK(result.pairs == 30);
  CHECK(result.ratio == Approx(1.1));
  CHECK(result.ratio_interval.low == Approx(1.1));
  CHECK(result.ratio_interval.high == Approx(1.1));
  CHECK(result.p_value > 0.05);
  CHECK_THROWS_AS(compare(a, ranks(29)), ValueError);
}

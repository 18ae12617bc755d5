// SPDX-License-Identifier: Apache-2.0
#include "core/statistics/two_modes.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "d5/core/tensor/random.hpp"

using namespace d5;
using detail::two_modes;

namespace {

/// Spread by 1% around `center`.
void add(std::vector<double>& samples, int count, double center) {
  for (int i = 0; i < count; ++i) samples.push_back(center * (1 + 0.01 * ((i * 7) % 10 - 5) / 5));
}

}  // namespace

TEST_CASE("samples of two ways in which one thing went have two modes") {
  std::vector<double> samples;
  add(samples, 18, 5.8e-6);
  add(samples, 12, 217e-6);
  const auto modes = two_modes(samples);
  REQUIRE(modes);
  CHECK(modes->lower == Approx(5.8e-6).epsilon(0.01));
  CHECK(modes->upper == Approx(217e-6).epsilon(0.01));
  CHECK(modes->upper_share == Approx(0.4));
}

TEST_CASE("one mode may lie far apart from wide others") {
  std::vector<double> samples;
  add(samples, 20, 1);
  for (int i = 0; i < 10; ++i) samples.push_back(2 + i);  // 2 to 11: waits of any length
  CHECK(two_modes(samples));
  // The rates of the same.
  for (double& sample : samples) sample = 1 / sample;
  CHECK(two_modes(samples));
}

TEST_CASE("outliers, scatter, steps and a small gap are no second mode") {
  std::vector<double> outliers, steps, close, same(30, 1.0), zero(30, 0.0);
  add(outliers, 26, 1);
  add(outliers, 4, 10);
  CHECK_FALSE(two_modes(outliers));
  for (int i = 0; i < 30; ++i) steps.push_back(1 + 0.3 * ((i * 7) % 10));
  CHECK_FALSE(two_modes(steps));
  add(close, 15, 1);
  add(close, 15, 1.15);
  CHECK_FALSE(two_modes(close));
  CHECK_FALSE(two_modes(same));
  CHECK_FALSE(two_modes(zero));
  CHECK_FALSE(two_modes({}));
}

TEST_CASE("samples of one law are hardly ever taken for two") {
  // Lognormal, from no scatter to a third: times of a quiet machine.
  constexpr int kTrials = 2000;
  for (const double width : {0.01, 0.1, 0.3}) {
    RandomStream random(7, stream_of("two modes"));
    int taken = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<double> samples;
      for (int i = 0; i < 30; ++i) samples.push_back(std::exp(width * random.normal()));
      taken += two_modes(samples) ? 1 : 0;
    }
    INFO(width);
    CHECK(taken <= kTrials / 50);
  }
}

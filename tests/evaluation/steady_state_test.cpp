// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/steady_state.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "d5/core/tensor/random.hpp"

using namespace d5;

namespace {

std::vector<double> series(std::size_t count, std::uint64_t seed,
                           const std::function<double(double)>& level) {
  RandomStream random(seed);
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back(level(double(i)) + 0.1 * random.normal_double());
  }
  return samples;
}

}  // namespace

TEST_CASE("a series that is the same from its beginning loses little") {
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto from = steady_from(series(2000, seed, [](double) { return 1; }));
    kept += from && *from < 400;
  }
  CHECK(kept >= 90);
}

TEST_CASE("a transient is left out until it has sunk into the noise") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    // 5 exp(-i / 50) is below the noise of 0.1 from i = 196 on.
    const auto from =
        steady_from(series(2000, seed, [](double i) { return 1 + 5 * std::exp(-i / 50); }));
    REQUIRE(from);
    CHECK(*from > 100);
    CHECK(*from < 600);
  }
}

TEST_CASE("a series that grows to its end never settles") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK_FALSE(steady_from(series(2000, seed, [](double i) { return i / 100; })));
    CHECK_FALSE(steady_from(series(100, seed, [](double i) { return i / 20; })));
  }
}

TEST_CASE("a short series that is the same throughout is not called unsettled") {
  int unsettled = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    unsettled += !steady_from(series(100, seed, [](double) { return 1; }));
  }
  CHECK(unsettled <= 10);  // one in a hundred; MSER-5 alone says it of 20 or more
}

TEST_CASE("too short a series, and one without any change, are taken as settled") {
  CHECK(steady_from({}) == 0);
  CHECK(steady_from(series(49, 0, [](double i) { return i; })) == 0);
  CHECK(steady_from(std::vector<double>(1000, 3.0)) == 0);
}

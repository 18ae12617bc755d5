// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/random.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <vector>

using namespace d5;

namespace {

using Block = std::array<std::uint32_t, 4>;

/// Philox 4x32-10 straight from section 3.3 of the paper.
Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {std::uint32_t(b >> 32) ^ counter[1] ^ key[0], std::uint32_t(b),
               std::uint32_t(a >> 32) ^ counter[3] ^ key[1], std::uint32_t(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

}  // namespace

TEST_CASE("the test's own Philox gives the known answers of Random123") {
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream is Philox with seed as key and (position, stream, substream) as counter") {
  const std::uint64_t seed = 0x299f31d0a4093822;
  RandomStream random(seed, 7, 9);
  for (std::uint32_t position = 0; position < 5; ++position) {
    for (const std::uint32_t expected : philox({position, 0, 7, 9}, {0xa4093822, 0x299f31d0})) {
      CHECK(random.bits() == expected);
    }
  }
}

TEST_CASE(
    "uniform numbers drawn at once are those drawn one by one, and the stream goes on after") {
  for (const std::size_t count : {0u, 1u, 3u, 4u, 63u, 64u, 65u, 128u, 1000u}) {
    for (int before = 0; before < 5; ++before) {
      CAPTURE(count, before);
      RandomStream one(0x299f31d0a4093822, 7, 9), all(0x299f31d0a4093822, 7, 9);
      for (int i = 0; i < before; ++i) CHECK(one.bits() == all.bits());
      std::vector<float> expected(count), values(count);
      for (float& x : expected) x = one.uniform();
      all.uniform(values);
      CHECK(values == expected);
      CHECK(all.bits() == one.bits());
    }
  }
}

TEST_CASE("streams and seeds differ, equal ones do not") {
  CHECK(RandomStream(1, 2, 3).bits() == RandomStream(1, 2, 3).bits());
  CHECK(RandomStream(1, 2, 3).bits() != RandomStream(2, 2, 3).bits());
  CHECK(RandomStream(1, 2, 3).bits() != RandomStream(1, 3, 3).bits());
  CHECK(RandomStream(1, 2, 3).bits() != RandomStream(1, 2, 4).bits());
}

TEST_CASE("uniform numbers lie in [0, 1) with the mean and variance of their law") {
  RandomStream random(1);
  const int n = 100000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    const double x = i % 2 ? random.uniform() : random.uniform_double();
    REQUIRE((x >= 0 && x < 1));
    sum += x;
    squares += x * x;
  }
  // Five standard errors: sqrt(1/12/n) = 9.1e-4 and sqrt(4/45/n) = 9.4e-4.
  CHECK(std::abs(sum / n - 0.5) < 4.6e-3);
  CHECK(std::abs(squares / n - 1.0 / 3) < 4.7e-3);
}

TEST_CASE("normal numbers have the moments of the normal law") {
  RandomStream random(2);
  const int n = 100000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < n; ++i) {
    const double x = random.normal_double();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  // Five standard errors of each mean: variances 1, 2 and 96.
  CHECK(std::abs(sum / n) < 5 * std::sqrt(1.0 / n));
  CHECK(std::abs(squares / n - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::abs(fourth / n - 3) < 5 * std::sqrt(96.0 / n));
}

TEST_CASE("numbers below a bound are all reached, and equally often") {
  RandomStream random(3);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e4) * (count - 1e4) / 1e4;
  CHECK(chi_square < 27.9);  // 6 degrees of freedom: passed with probability 0.9999
  CHECK(random.below(1) == 0);
}

TEST_CASE("a shuffle is a permutation, and every permutation comes as often") {
  std::array<int, 6> counts{};
  for (std::uint32_t trial = 0; trial < 6000; ++trial) {
    std::vector<std::int64_t> values{0, 1, 2};
    RandomStream(4, trial).shuffle(values);
    REQUIRE(values[0] + values[1] + values[2] == 3);
    REQUIRE(values[0] != values[1]);
    ++counts.at(std::size_t(values[0] * 2 + (values[1] > values[2])));
  }
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 1e3) * (count - 1e3) / 1e3;
  CHECK(chi_square < 25.7);  // 5 degrees of freedom: passed with probability 0.9999
}

TEST_CASE("names turn into streams by FNV-1a") {
  // The published test values of the 32-bit hash.
  CHECK(stream_of("") == 0x811c9dc5u);
  CHECK(stream_of("a") == 0xe40c292cu);
  CHECK(stream_of("foobar") == 0xbf9cf968u);
}

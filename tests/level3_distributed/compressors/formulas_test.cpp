// SPDX-License-Identifier: Apache-2.0
// Each compressor against its paper, on numbers that a person can check. One rank's view: every
// rank computes alone.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/compressors/gradient_compressor.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

using namespace d5;

namespace {

std::shared_ptr<GatheredCompressor> gathered(const std::string& name,
                                             const Settings& settings = {}) {
  return std::dynamic_pointer_cast<GatheredCompressor>(
      gradient_compressors().at(name).make(settings));
}

std::vector<float> sent(GatheredCompressor& compressor, const std::vector<float>& value,
                        RandomStream random = RandomStream(1)) {
  std::vector<std::uint8_t> message(
      static_cast<std::size_t>(compressor.message_bytes(static_cast<std::int64_t>(value.size()))));
  compressor.compress(value, random, message);
  std::vector<float> result(value.size());
  compressor.add(message, 1, result);
  return result;
}

/// The result for `value` in a group of this rank alone.
std::vector<float> alone(GradientCompressor& compressor, const std::vector<float>& value,
                         const CompressionPlace& place = {}) {
  static const auto self = world()->split(world()->rank());
  const auto ring = all_reduces().at("ring").make();
  Tensor data = Tensor::vector<float>(value);
  compressor.start(*self, *ring, data, Tensor(), place)->wait();
  const auto span = data.span<float>();
  return {span.begin(), span.end()};
}

double squares(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += double{x} * x;
  return sum;
}

std::vector<float> normal(std::size_t n, std::uint64_t seed = 3) {
  RandomStream random(seed);
  std::vector<float> values(n);
  for (float& x : values) x = random.normal();
  return values;
}

using Floats = std::vector<float>;

}  // namespace

TEST_CASE("top_k keeps the largest magnitudes, and among equals the first") {
  const auto compressor = gathered("top_k", {{"k", 2}});
  CHECK(sent(*compressor, {1, -5, 2, 0, 3, 0.5f}) == Floats{0, -5, 0, 0, 3, 0});
  CHECK(sent(*compressor, {1, -1, 1, 1, 1, 1}) == Floats{1, -1, 0, 0, 0, 0});
}

TEST_CASE("top_k is off by at most 1 - k / n of the square norm") {
  const auto value = normal(1000);
  auto rest = sent(*gathered("top_k", {{"k", 100}}), value);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = value[i] - rest[i];
  CHECK(squares(rest) <= 0.9 * squares(value));
}

TEST_CASE("the largest of many are those that sorting finds") {
  for (const std::size_t n : {1u, 5u, 1000u, 100'003u}) {
    const auto values = normal(n, n);
    std::vector<std::uint32_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
    std::ranges::stable_sort(
        order, [&](auto a, auto b) { return std::abs(values[a]) > std::abs(values[b]); });
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, n / 100, n / 2, n}) {
      CAPTURE(n, k);
      std::vector<std::uint32_t> expected(order.begin(), order.begin() + std::ptrdiff_t(k));
      std::ranges::sort(expected);
      CHECK(largest_magnitudes(values, static_cast<std::int64_t>(k)) == expected);
    }
  }
  // Large values at positions that are not sampled.
  std::vector<float> values(10'000);
  for (std::size_t i = 1; i < 100; ++i) values[i] = 1;
  CHECK(largest_magnitudes(values, 99).front() == 1);
  CHECK(largest_magnitudes(values, 99).back() == 99);
  CHECK_THROWS_AS(largest_magnitudes(values, 10'001), ValueError);
  CHECK_THROWS_AS(largest_magnitudes(values, -1), ValueError);
}

TEST_CASE("scaled_sign sends the mean magnitude with each sign") {
  CHECK(sent(*gathered("scaled_sign"), {1, -2, 3, -6, 0}) ==
        Floats{2.4f, -2.4f, 2.4f, -2.4f, 2.4f});
}

TEST_CASE("scaled_sign takes the mean of each parameter on its own, and padding is zero") {
  const std::vector<GradientPart> parts = {{0, {2}}, {3, {1, 3}}};
  CHECK(alone(*gradient_compressors().at("scaled_sign").make(), {1, -3, 0, 100, -200, 300},
              {.parts = parts}) == Floats{2, -2, 0, 200, -200, 200});
}

TEST_CASE("terngrad scales each parameter on its own, and cuts what lies far out") {
  const std::vector<GradientPart> parts = {{0, {2}}, {3, {1, 1}}};
  // Elements of the largest magnitude are always sent; each is the largest of its parameter.
  const auto plain = gradient_compressors().at("terngrad").make({{"clip", 0}});
  CHECK(alone(*plain, {-3, 3, 0, 0.5f}, {.parts = parts}) == Floats{-3, 3, 0, 0.5f});
  // Root mean square 4 / sqrt(16) = 1, and 2.5 times that is below 4.
  Floats one_large(16), expected(16);
  one_large[5] = -4, expected[5] = -2.5f;
  CHECK(alone(*gradient_compressors().at("terngrad").make({{"clip", 2.5}}), one_large) == expected);
  CHECK(alone(*plain, one_large) == one_large);
}

TEST_CASE("scaled_sign is off by 1 - |x|_1^2 / (n |x|_2^2) of the square norm") {
  const auto value = normal(1001);
  double one_norm = 0;
  for (const float x : value) one_norm += std::abs(x);
  auto rest = sent(*gathered("scaled_sign"), value);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] = value[i] - rest[i];
  // The mean is rounded to float32, and each difference.
  CHECK(squares(rest) == Approx(squares(value) - one_norm * one_norm / 1001).epsilon(1e-5));
}

TEST_CASE("int8 reaches least and most, and is off by half a step at most") {
  CHECK(sent(*gathered("int8"), {0, 255, 3, 3.4f, 3.6f}) == Floats{0, 255, 3, 3, 4});
  CHECK(sent(*gathered("int8"), {-2, -2, -2}) == Floats{-2, -2, -2});
  const auto value = normal(1000);
  const auto result = sent(*gathered("int8"), value);
  const auto [least, most] = std::ranges::minmax(value);
  for (std::size_t i = 0; i < value.size(); ++i) {
    // and some roundings of values up to 4
    CHECK(std::abs(result[i] - value[i]) <= (most - least) / 510 + 8 * 0x1p-24 * 4);
  }
}

TEST_CASE("qsgd gives levels of the norm, and what lies on a level exactly") {
  // The norm is 5, and with 5 levels 3 and 4 lie on the levels 3 / 5 and 4 / 5.
  CHECK(sent(*gathered("qsgd", {{"levels", 5}}), {3, -4}) == Floats{3, -4});
  CHECK(sent(*gathered("qsgd", {{"levels", 1}, {"block", 1}}), {0.1f, -7, 0}) ==
        Floats{0.1f, -7, 0});
  for (const float x : sent(*gathered("qsgd", {{"levels", 2}}), {3, -4})) {
    CHECK((std::abs(x) == 2.5f || std::abs(x) == 5));
  }
}

TEST_CASE("qsgd of 10^5 draws means the value, and varies no more than its bound") {
  const std::vector<float> value = {0.3f, -1, 0, 2, 0.01f, -0.7f, 1e-6f, 1};
  constexpr int kDraws = 100'000, kLevels = 3;
  const auto compressor = gathered("qsgd", {{"levels", kLevels}});
  std::vector<double> mean(value.size());
  double off = 0;
  for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
    const auto result = sent(*compressor, value, RandomStream(5, draw));
    for (std::size_t i = 0; i < value.size(); ++i) {
      mean[i] += result[i] / double{kDraws};
      off += std::pow(double{result[i]} - value[i], 2) / kDraws;
    }
  }
  const double norm = std::sqrt(squares(value));
  for (std::size_t i = 0; i < value.size(); ++i) {
    // Between two levels norm / s apart, p of the way: the variance is p (1 - p) (norm / s)^2.
    const double level = std::abs(value[i]) / norm * kLevels, p = level - std::floor(level);
    const double sigma = norm / kLevels * std::sqrt(p * (1 - p) / kDraws);
    CHECK(std::abs(mean[i] - value[i]) <= 4 * sigma + 1e-6);  // and rounding to float32
  }
  const auto d = static_cast<double>(value.size());
  CHECK(off <= std::min(d / (kLevels * kLevels), std::sqrt(d) / kLevels) * norm * norm);
}

TEST_CASE("terngrad of 10^5 draws means the value, and gives minus s, nothing or s") {
  const std::vector<float> value = {0.3f, -1, 0, 2, 0.01f, -0.7f, 1e-6f, 1};
  const auto compressor = gradient_compressors().at("terngrad").make({{"clip", 2.5}, {"seed", 9}});
  // One long vector of copies: every element draws for itself.
  constexpr std::size_t kDraws = 100'000;
  std::vector<float> all;
  for (std::size_t i = 0; i < kDraws; ++i) all.insert(all.end(), value.begin(), value.end());
  const auto result = alone(*compressor, all);
  std::vector<double> mean(value.size());
  bool ternary = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    mean[i % value.size()] += result[i] / double{kDraws};
    ternary = ternary && (result[i] == 0 || std::abs(result[i]) == 2);
  }
  CHECK(ternary);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double p = std::abs(value[i]) / 2, sigma = 2 * std::sqrt(p * (1 - p) / kDraws);
    CHECK(std::abs(mean[i] - value[i]) <= 4 * sigma + 1e-9);  // and 10^5 additions in float64
  }
}

TEST_CASE("random_k without bias means the value") {
  constexpr int kDraws = 20'000;
  const auto compressor =
      gradient_compressors().at("random_k").make({{"k", 2}, {"unbiased", true}});
  std::vector<double> mean(5);
  const std::vector<float> value = {1, -2, 3, -4, 5};
  for (std::int64_t step = 0; step < kDraws; ++step) {
    const auto result = alone(*compressor, value, {.step = step});
    int there = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      mean[i] += result[i] / double{kDraws};
      there += result[i] != 0;
    }
    REQUIRE(there == 2);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    // x n / k with probability k / n: the variance is x^2 (n / k - 1).
    CHECK(std::abs(mean[i] - value[i]) <= 4 * std::abs(value[i]) * std::sqrt(1.5 / kDraws));
  }
}

TEST_CASE("sign is the majority's, and a tie is nothing") {
  const int n = world()->size(), rank = world()->rank();
  // Element i: ranks below i vote plus.
  std::vector<float> votes, expected;
  for (int i = 0; i <= n; ++i) {
    votes.push_back(rank < i ? 0.01f : -100.0f);
    expected.push_back(static_cast<float>((2 * i > n) - (2 * i < n)));
  }
  const auto compressor = gradient_compressors().at("sign").make();
  const auto ring = all_reduces().at("ring").make();
  Tensor data = Tensor::vector<float>(votes);
  compressor->start(*world(), *ring, data, Tensor(), {})->wait();
  CHECK(std::ranges::equal(data.span<float>(), expected));
}

TEST_CASE("power_sgd gives a matrix of rank one back, and the vector beside it") {
  // M = u v^T, then a vector.
  const std::vector<float> u = {1, -2, 3}, v = {2, 0, 1, -1};
  std::vector<float> value;
  for (const float a : u) {
    for (const float b : v) value.push_back(a * b);
  }
  value.insert(value.end(), {7, 8});
  const std::vector<GradientPart> parts = {{0, {3, 4}}, {12, {2}}};
  for (const int rank : {1, 2, 3}) {
    CAPTURE(rank);
    const auto compressor = gradient_compressors().at("power_sgd").make({{"rank", rank}});
    const auto result = alone(*compressor, value, {.parts = parts});
    for (std::size_t i = 0; i < value.size(); ++i) {
      CHECK(result[i] == Approx(value[i]).margin(1e-5));  // some roundings of values up to 6
    }
  }
}

TEST_CASE("power_sgd's warm start comes to the best matrix of its rank") {
  // M = diag(3, 2, 1): the best of rank 2 is diag(3, 2, 0). An iteration shrinks what is off by the
  // ratio of squares, (1 / 2)^2: 40 make it 2^-80.
  const std::vector<float> value = {3, 0, 0, 0, 2, 0, 0, 0, 1};
  const std::vector<GradientPart> parts = {{0, {3, 3}}};
  const auto compressor = gradient_compressors().at("power_sgd").make({{"rank", 2}});
  std::vector<float> result;
  for (std::int64_t step = 0; step < 40; ++step) {
    result = alone(*compressor, value, {.step = step, .parts = parts});
  }
  const std::vector<float> expected = {3, 0, 0, 0, 2, 0, 0, 0, 0};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(result[i] == Approx(expected[i]).margin(1e-5));
  }
}

TEST_CASE("casts round to nearest, ties to even") {
  CHECK(alone(*gradient_compressors().at("float16").make(),
              {1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 1e-8f}) == Floats{1, 1 + 0x1p-9f, 0});
  CHECK(alone(*gradient_compressors().at("bfloat16").make(), {1 + 0x1p-8f, 1 + 3 * 0x1p-8f}) ==
        Floats{1, 1 + 0x1p-6f});
}

TEST_CASE("a message of pairs that no compressor wrote is refused") {
  const auto compressor = gathered("top_k", {{"k", 2}});
  std::vector<float> values(9);
  std::vector<std::uint8_t> message(20);
  CHECK_THROWS_AS(compressor->add(message, 1, values), CommunicationError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/sampling.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

using Scores = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// log p of probabilities 0.4, 0.3, 0.2 and 0.1, in another order.
const Scores kFour{std::log(0.2F), std::log(0.4F), std::log(0.1F), std::log(0.3F)};

/// Numbers of each token among the draws of many positions.
std::map<TokenId, int> draws(const Scores& scores, const Sampling& sampling, int count = 2000) {
  std::map<TokenId, int> numbers;
  for (int position = 0; position < count; ++position) {
    ++numbers[next_token(scores, sampling, position)];
  }
  return numbers;
}

}  // namespace

TEST_CASE("greedy takes the largest score, of equals the lowest id") {
  CHECK(next_token(kFour, {}, 0) == 1);
  CHECK(next_token(Scores{1, 3, 3, 2}, {}, 5) == 1);
  CHECK(next_token(Scores{-kInfinity, -kInfinity, -7}, {}, 0) == 2);
  CHECK(next_token(Scores{0, kInfinity}, {}, 0) == 1);
  const std::array<TokenId, 1> barred{1};
  CHECK(next_token(kFour, {}, 0, barred) == 3);
}

TEST_CASE("2000 draws are distributed as softmax: chi-square below its 0.9999 quantile") {
  const double temperature = GENERATE(0.5, 1.0, 2.0);
  const Scores scores{0.3F, -1.0F, 1.7F, 0.0F, 0.9F};
  std::vector<double> shares;
  double sum = 0;
  for (const float score : scores) sum += shares.emplace_back(std::exp(score / temperature));
  const auto numbers = draws(scores, {.temperature = temperature, .seed = 7});
  double chi_square = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double expected = 2000 * shares[i] / sum;
    const auto found = numbers.find(TokenId(i));
    const double difference = (found == numbers.end() ? 0 : found->second) - expected;
    chi_square += difference * difference / expected;
  }
  CHECK(chi_square < 23.51);  // 4 degrees of freedom
}

TEST_CASE("top-k, top-p and min-p leave the tokens that their papers leave") {
  const auto kept = [](const Sampling& sampling) {
    std::vector<TokenId> tokens;
    for (const auto& [token, count] : draws(kFour, sampling)) tokens.push_back(token);
    return tokens;
  };
  CHECK(kept({.temperature = 1}) == std::vector<TokenId>{0, 1, 2, 3});
  CHECK(kept({.temperature = 1, .top_k = 2}) == std::vector<TokenId>{1, 3});
  CHECK(kept({.temperature = 1, .top_k = 1}) == std::vector<TokenId>{1});
  CHECK(kept({.temperature = 1, .top_p = 0.69}) == std::vector<TokenId>{1, 3});
  CHECK(kept({.temperature = 1, .top_p = 0.71}) == std::vector<TokenId>{0, 1, 3});
  CHECK(kept({.temperature = 1, .top_p = 1e-9}) == std::vector<TokenId>{1});
  CHECK(kept({.temperature = 1, .min_p = 0.45}) == std::vector<TokenId>{0, 1, 3});
  CHECK(kept({.temperature = 1, .min_p = 0.8}) == std::vector<TokenId>{1});
  // 0.4 and 0.3 of the three left: 4/9 and 3/9, above 0.7 together.
  CHECK(kept({.temperature = 1, .top_k = 3, .top_p = 0.7}) == std::vector<TokenId>{1, 3});
}

TEST_CASE("equal scores at the border of top-k keep the lower ids") {
  const auto numbers = draws({1, 2, 1, 1}, {.temperature = 1, .top_k = 2});
  CHECK(numbers.size() == 2);
  CHECK(numbers.contains(1));
  CHECK(numbers.contains(0));
}

TEST_CASE("a draw depends on seed, request and position alone") {
  const Scores flat(64, 0.0F);
  const auto run = [&](const Sampling& sampling) {
    std::vector<TokenId> tokens;
    for (int position = 0; position < 16; ++position) {
      tokens.push_back(next_token(flat, sampling, position));
    }
    return tokens;
  };
  const Sampling sampling{.temperature = 1, .seed = 3, .request = 2};
  CHECK(run(sampling) == run(sampling));
  CHECK(run(sampling) != run({.temperature = 1, .seed = 4, .request = 2}));
  CHECK(run(sampling) != run({.temperature = 1, .seed = 3, .request = 1}));
  CHECK(next_token(flat, sampling, 9) == run(sampling)[9]);
}

TEST_CASE("scores that choose nothing, and numbers outside their range, are refused") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(next_token(Scores{0, nan}, {}, 0), Catch::Contains("token 1 is NaN"));
  CHECK_THROWS_AS(next_token(Scores{}, {}, 0), ValueError);
  CHECK_THROWS_AS(next_token(Scores{-kInfinity}, {}, 0), ValueError);
  const std::array<TokenId, 2> both{0, 1};
  CHECK_THROWS_WITH(next_token(Scores{1, 2}, {}, 0, both), Catch::Contains("2 are barred"));
  CHECK_THROWS_AS(expect_valid({.temperature = -1}), ValueError);
  CHECK_THROWS_AS(expect_valid({.temperature = nan}), ValueError);
  CHECK_THROWS_AS(expect_valid({.top_k = -1}), ValueError);
  CHECK_THROWS_AS(expect_valid({.top_p = 0}), ValueError);
  CHECK_THROWS_AS(expect_valid({.top_p = nan}), ValueError);
  CHECK_THROWS_AS(expect_valid({.min_p = 1.5}), ValueError);
}

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/generation/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

struct Candidate {
  TokenId token;
  float score;
  double weight = 0;  ///< probability, up to a common factor
};

/// The most likely first, of equals the lowest id.
bool precedes(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score > b.score : a.token < b.token;
}

/// Tokens that may be chosen, by id.
std::vector<Candidate> candidates_of(std::span<const float> scores,
                                     std::span<const TokenId> barred) {
  std::vector<Candidate> candidates;
  candidates.reserve(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (std::isnan(scores[i])) {
      throw ValueError(fmt::format(
          "sampling: the score of token {} is NaN; d5 net check compares the network with the "
          "reference",
          i));
    }
    const auto token = TokenId(i);
    if (scores[i] == kNever || std::ranges::find(barred, token) != barred.end()) continue;
    candidates.push_back({token, scores[i]});
  }
  if (candidates.empty()) {
    throw ValueError(
        fmt::format("sampling: none of {} tokens can be chosen; {} are barred, the others have "
                    "score -inf",
                    scores.size(), barred.size()));
  }
  return candidates;
}

void weigh(std::vector<Candidate>& candidates, double temperature) {
  const float largest = std::ranges::max(candidates, {}, &Candidate::score).score;
  for (Candidate& candidate : candidates) {
    // inf - inf: an infinite score shares the first place with its equals.
    const double below = candidate.score == largest ? 0 : double(candidate.score) - double(largest);
    candidate.weight = std::exp(below / temperature);
  }
}

double sum_of(const std::vector<Candidate>& candidates) {
  double sum = 0;
  for (const Candidate& candidate : candidates) sum += candidate.weight;
  return sum;
}

/// `candidates` are in order of likelihood.
void cut(std::vector<Candidate>& candidates, const Sampling& sampling) {
  if (sampling.top_k > 0 && candidates.size() > std::size_t(sampling.top_k)) {
    candidates.resize(std::size_t(sampling.top_k));
  }
  if (sampling.top_p < 1) {
    const double wanted = sampling.top_p * sum_of(candidates);
    double share = 0;
    std::size_t kept = 0;
    while (kept < candidates.size() && (kept == 0 || share < wanted)) {
      share += candidates[kept++].weight;
    }
    candidates.resize(kept);
  }
  const double least = sampling.min_p * candidates.front().weight;
  std::erase_if(candidates, [&](const Candidate& c) { return c.weight < least; });
}

}  // namespace

void Sampling::declare(OptionList& options) {
  options.add("temperature", temperature, "divisor of the scores; 0: the largest score",
              {.least = 0});
  options.add("top_k", top_k, "number of the most likely tokens to draw from; 0: all",
              {.least = 0});
  options.add("top_p", top_p, "share of probability of the most likely tokens to draw from",
              {.above = 0, .most = 1});
  options.add("min_p", min_p, "least probability, as a share of the largest",
              {.least = 0, .most = 1});
  options.add("seed", seed, "seed of the draws");
}

void expect_valid(const Sampling& sampling) {
  const auto expect = [](bool holds, const char* name, auto value, const char* range) {
    if (holds) return;
    throw ValueError(fmt::format("sampling: {} is {}, expected {}", name, value, range));
  };
  expect(sampling.temperature >= 0 && std::isfinite(sampling.temperature), "temperature",
         sampling.temperature, "0 or more");
  expect(sampling.top_k >= 0, "top_k", sampling.top_k, "0 or more");
  expect(sampling.top_p > 0 && sampling.top_p <= 1, "top_p", sampling.top_p,
         "above 0, and 1 at most");
  expect(sampling.min_p >= 0 && sampling.min_p <= 1, "min_p", sampling.min_p, "0 to 1");
}

TokenId next_token(std::span<const float> scores, const Sampling& sampling, std::int64_t position,
                   std::span<const TokenId> barred) {
  expect_valid(sampling);
  std::vector<Candidate> candidates = candidates_of(scores, barred);
  if (sampling.temperature == 0) return std::ranges::min(candidates, precedes).token;
  weigh(candidates, sampling.temperature);
  if (sampling.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0) {
    std::ranges::sort(candidates, precedes);
    cut(candidates, sampling);
  }
  RandomStream random(sampling.seed, sampling.request, std::uint32_t(position));
  double left = random.uniform_double() * sum_of(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  return std::ranges::min(candidates, precedes).token;  // by rounding nothing was left
}

}  // namespace d5

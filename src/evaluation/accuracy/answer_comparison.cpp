// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/answer_comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

/// P(X <= k) twice, of X with `n` throws of a fair coin; at most 1.
double two_sided_binomial(std::int64_t k, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i <= k; ++i) {
    sum += std::exp(std::lgamma(double(n + 1)) - std::lgamma(double(i + 1)) -
                    std::lgamma(double(n - i + 1)) - double(n) * std::log(2.0));
  }
  return std::min(1.0, 2 * sum);
}

}  // namespace

AnswerComparison compare_answers(std::span<const SampleAnswer> a, std::span<const SampleAnswer> b) {
  std::map<std::int64_t, const SampleAnswer*> of_b;
  for (const SampleAnswer& answer : b) of_b[answer.sample] = &answer;
  AnswerComparison result;
  for (const SampleAnswer& one : a) {
    const auto place = of_b.find(one.sample);
    if (place == of_b.end()) continue;
    const SampleAnswer& other = *place->second;
    const bool right = one.score >= 0.5, other_right = other.score >= 0.5;
    ++result.samples;
    ++(right         ? other_right ? result.both : result.only_a
       : other_right ? result.only_b
                     : result.neither);
    result.same_answers += one.answer == other.answer ? 1 : 0;
    if (right != other_right) {
      result.flips.push_back({one.sample, one.answer, other.answer, one.score, other.score});
    }
  }
  std::ranges::sort(result.flips, {}, &AnswerComparison::Flip::sample);
  const std::int64_t flips = result.only_a + result.only_b;
  if (flips > 0) result.p_value = two_sided_binomial(std::min(result.only_a, result.only_b), flips);
  return result;
}

std::string to_string(const AnswerComparison& comparison) {
  return fmt::format("{} and {} of {} right, {} and {} alone: McNemar p = {:.3g}",
                     comparison.both + comparison.only_a, comparison.both + comparison.only_b,
                     comparison.samples, comparison.only_a, comparison.only_b, comparison.p_value);
}

TextTable flips_table(const AnswerComparison& comparison) {
  TextTable table({"sample", "a", "b", "answer of a", "answer of b"});
  for (const auto& flip : comparison.flips) {
    table.add({std::to_string(flip.sample), flip.score_a >= 0.5 ? "right" : "wrong",
               flip.score_b >= 0.5 ? "right" : "wrong", printable(flip.a), printable(flip.b)});
  }
  return table;
}

}  // namespace d5

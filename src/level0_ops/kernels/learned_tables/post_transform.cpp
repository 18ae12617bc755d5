// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/learned_tables/post_transform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO",
                                                    "PROBIT"};

double logistic(double score) { return 1 / (1 + std::exp(-score)); }

/// Quantile of the normal distribution, with an error below 0.005: the same formula as in ONNX's
/// reference implementation and ONNX Runtime, so that models have the same results.
/// Source: Winitzki, "A handy approximation for the error function and its inverse" (2008).
double probit(double share) {
  constexpr double a = 0.147;
  const double x = 2 * share - 1;
  const double log = std::log((1 - x) * (1 + x));
  const double half = 2 / (std::numbers::pi * a) + log / 2;
  return std::copysign(std::numbers::sqrt2 * std::sqrt(std::sqrt(half * half - log / a) - half), x);
}

void softmax(std::span<double> scores, bool keeps_zeros) {
  constexpr double kZero = 1e-7;  // as in ONNX's implementation
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) {
    const bool is_zero = keeps_zeros && std::fabs(score) <= kZero;
    sum += score = is_zero ? score * std::exp(-most) : std::exp(score - most);
  }
  for (double& score : scores) score = sum == 0 ? 0.5 : score / sum;
}

}  // namespace

PostTransform post_transform(const std::string& word, std::string_view who) {
  const auto place = std::ranges::find(kWords, word);
  if (place != kWords.end()) return PostTransform(place - kWords.begin());
  throw ValueError(fmt::format(
      "{}: post_transform is {}, expected NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT", who,
      printable(word)));
}

PostTransform post_transform(std::int64_t number, std::string_view who) {
  if (number >= 0 && number < std::int64_t(kWords.size())) return PostTransform(number);
  throw ValueError(fmt::format("{}: post_transform is {}, expected 0 to 4", who, number));
}

void transform_scores(PostTransform transform, std::span<double> scores) {
  if (scores.empty()) return;
  switch (transform) {
    case PostTransform::none:
      return;
    case PostTransform::softmax:
      return softmax(scores, false);
    case PostTransform::softmax_zero:
      return softmax(scores, true);
    case PostTransform::logistic:
      for (double& score : scores) score = logistic(score);
      return;
    case PostTransform::probit:
      for (double& score : scores) score = probit(score);
  }
}

std::size_t transform_to_top(PostTransform transform, std::span<double> scores) {
  const auto top = [&] {
    const auto is_less = [](double a, double b) { return float(a) < float(b); };
    return std::size_t(std::ranges::max_element(scores, is_less) - scores.begin());
  };
  const std::size_t before = top();
  transform_scores(transform, scores);
  // The other transforms preserve the order of scores.
  return transform == PostTransform::softmax_zero ? top() : before;
}

void differentiate(PostTransform transform, const float* transformed, std::span<double> gradients) {
  if (transform == PostTransform::logistic) {
    for (double& gradient : gradients) {
      const double y = double(*transformed++);
      gradient *= y * (1 - y);
    }
  } else if (transform == PostTransform::softmax) {
    double product = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      product += gradients[i] * double(transformed[i]);
    }
    for (double& gradient : gradients) gradient = double(*transformed++) * (gradient - product);
  }
}

void expect_slope(PostTransform transform, std::string_view who) {
  if (transform != PostTransform::softmax_zero && transform != PostTransform::probit) return;
  throw Unsupported(fmt::format("{}: there is no gradient through {}; omit the transform", who,
                                kWords[std::size_t(transform)]));
}

void split_score(PostTransform transform, OneScore kind, std::span<double, 2> scores) {
  const bool is_share = transform == PostTransform::none ? kind == OneScore::share
                                                         : transform == PostTransform::probit;
  scores[0] = is_share ? 1 - scores[1] : -scores[1];
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void check_probability(const char* what, double value) {
  if (!(value > 0 && value < 1)) {
    throw ValueError(fmt::format("{} is {}, expected a number between 0 and 1", what, value));
  }
}

bool any_nan(std::span<const double> samples) {
  return std::any_of(samples.begin(), samples.end(), [](double x) { return std::isnan(x); });
}

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> result(samples.begin(), samples.end());
  std::sort(result.begin(), result.end());
  return result;
}

/// Interpolates linearly between order statistics, as NumPy's default.
double quantile(const std::vector<double>& ordered, double q) {
  const double place = q * double(ordered.size() - 1);
  const auto below = std::size_t(place);
  const double low = ordered[below], high = ordered[std::min(below + 1, ordered.size() - 1)];
  const double weight = place - double(below);
  return weight == 0 || low == high ? low : low + weight * (high - low);
}

/// Order statistics, counted from 0, between which the quantile lies with at least the given
/// confidence; `low > high` if there are none.
struct Ranks {
  std::size_t low = 1, high = 0;
  double confidence = kNan;
};

Ranks quantile_ranks(std::size_t n, double q, double confidence) {
  if (n == 0) return {};
  // The number of samples below the quantile is binomial: sample k (from 0) is above it with
  // probability P(number <= k), below or at it with 1 - P(number <= k).
  const boost::math::binomial below(double(n), q);
  const double tail = (1 - confidence) / 2;
  const auto at_most = [&](std::size_t k) { return boost::math::cdf(below, double(k)); };
  // The number of k in [0, n) with P(number <= k) <= tail; P grows with k.
  std::size_t first = 0, last = n;
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (at_most(middle) <= tail) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  if (first == 0) return {};
  const std::size_t low = first - 1;
  // The smallest k in [0, n) with P(number > k) <= tail.
  first = 0, last = n;
  while (first < last) {
    const std::size_t middle = (first + last) / 2;
    if (boost::math::cdf(boost::math::complement(below, double(middle))) <= tail) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  if (first >= n) return {};
  return {low, first, at_most(first) - at_most(low)};
}

/// The number of rankings of `n` of `n + m` samples that yield Mann and Whitney's statistic u, for
/// every u, by their recurrence on the largest sample.
std::vector<double> rank_counts(std::size_t n, std::size_t m) {
  std::vector<std::vector<double>> previous(m + 1, {1.0}), current;
  for (std::size_t i = 1; i <= n; ++i) {
    current.assign(m + 1, {});
    current[0] = {1.0};
    for (std::size_t j = 1; j <= m; ++j) {
      auto& counts = current[j];
      counts.assign(i * j + 1, 0.0);
      for (std::size_t u = 0; u < counts.size(); ++u) {
        if (u >= j && u - j < previous[j].size()) counts[u] += previous[j][u - j];
        if (u < current[j - 1].size()) counts[u] += current[j - 1][u];
      }
    }
    previous = current;
  }
  return previous[m];
}

Estimate quantile_estimate(std::span<const double> samples, double q, double confidence) {
  check_probability("quantile", q);
  const auto ordered = sorted(samples);
  const Ranks ranks = quantile_ranks(ordered.size(), q, confidence);
  const double value = quantile(ordered, q);
  if (ranks.low >= ranks.high) return {value, {kNan, kNan}, kNan};
  return {value, {ordered[ranks.low], ordered[ranks.high]}, ranks.confidence};
}

/// Shares have an interval only if each sample is 0 or 1.
Estimate share_estimate(std::span<const double> samples, double confidence) {
  const double n = double(samples.size());
  const double yes = std::accumulate(samples.begin(), samples.end(), 0.0);
  const bool counted = std::all_of(samples.begin(), samples.end(),
                                   [](double sample) { return sample == 0 || sample == 1; });
  if (!counted) return {yes / n, {kNan, kNan}, kNan};
  using boost::math::binomial;
  const double tail = (1 - confidence) / 2;
  const auto low = binomial::find_lower_bound_on_p(n, yes, tail);
  const auto high = binomial::find_upper_bound_on_p(n, yes, tail);
  return {yes / n, {low, high}, confidence};
}

double harmonic_mean(std::span<const double> samples) {
  double sum = 0;
  for (const double sample : samples) sum += 1 / sample;
  return double(samples.size()) / sum;
}

}  // namespace

Summary summarise(std::span<const double> samples, double confidence) {
  check_probability("confidence", confidence);
  Summary result;
  result.count = samples.size();
  if (samples.empty() || any_nan(samples)) {
    result.minimum = result.maximum = result.mean = result.median = kNan;
    result.first_quartile = result.third_quartile = result.confidence = kNan;
    result.median_interval = {kNan, kNan};
    return result;
  }
  const auto ordered = sorted(samples);
  result.minimum = ordered.front();
  result.maximum = ordered.back();
  result.mean = std::accumulate(ordered.begin(), ordered.end(), 0.0) / double(ordered.size());
  result.first_quartile = quantile(ordered, 0.25);
  result.median = quantile(ordered, 0.5);
  result.third_quartile = quantile(ordered, 0.75);
  const Ranks ranks = quantile_ranks(ordered.size(), 0.5, confidence);
  const bool found = ranks.low < ranks.high;
  result.median_interval =
      found ? Interval{ordered[ranks.low], ordered[ranks.high]} : Interval{kNan, kNan};
  result.confidence = ranks.confidence;
  return result;
}

Interval quantile_interval(std::span<const double> samples, double q, double confidence) {
  check_probability("quantile", q);
  check_probability("confidence", confidence);
  const Ranks ranks = quantile_ranks(samples.size(), q, confidence);
  if (ranks.low >= ranks.high || any_nan(samples)) return {kNan, kNan};
  const auto ordered = sorted(samples);
  return {ordered[ranks.low], ordered[ranks.high]};
}

Estimate estimate(std::span<const double> samples, const Statistic& statistic, Direction direction,
                  double confidence) {
  using Of = Statistic::Of;
  check_probability("confidence", confidence);
  const auto plain = [](double value) { return Estimate{value, {kNan, kNan}, kNan}; };
  if (samples.empty()) return plain(kNan);
  if (statistic.of == Of::last || statistic.of == Of::single) return plain(samples.back());
  if (any_nan(samples)) return plain(kNan);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  switch (statistic.of) {
    case Of::quantile:
      return quantile_estimate(samples, statistic.quantile, confidence);
    case Of::mean:
      return plain(std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size()));
    case Of::maximum:
      return plain(*most);
    case Of::rate:
      return plain(harmonic_mean(samples));
    case Of::share:
      return share_estimate(samples, confidence);
    case Of::best:
      return plain(direction == Direction::higher_is_better ? *most : *least);
    case Of::last:
    case Of::single:
      break;
  }
  return plain(samples.back());
}

double rank_test(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty() || any_nan(a) || any_nan(b)) return kNan;
  const double n = double(a.size()), m = double(b.size());
  auto all = sorted(a);
  const auto other = sorted(b);
  all.insert(all.end(), other.begin(), other.end());
  std::sort(all.begin(), all.end());
  // U counts the pairs in which a's sample is the larger one, ties half.
  double u = 0;
  for (const double x : a) {
    const auto [low, high] = std::equal_range(other.begin(), other.end(), x);
    u += double(low - other.begin()) + 0.5 * double(high - low);
  }
  double ties = 0;
  for (std::size_t i = 0; i < all.size();) {
    const auto end = std::size_t(std::upper_bound(all.begin(), all.end(), all[i]) - all.begin());
    const double t = double(end - i);
    ties += t * t * t - t;
    i = end;
  }
  if (ties == 0 && a.size() <= 20 && b.size() <= 20) {
    const auto counts = rank_counts(a.size(), b.size());
    const auto smaller = std::size_t(std::min(u, n * m - u));
    const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
    const double tail = std::accumulate(counts.begin(), counts.begin() + smaller + 1, 0.0);
    return std::min(1.0, 2 * tail / total);
  }
  const double size = n + m;
  const double variance = n * m / 12 * (size + 1 - ties / (size * (size - 1)));
  if (variance <= 0) return 1;  // all samples are equal
  const double distance = std::max(0.0, std::abs(u - n * m / 2) - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

Comparison compare(std::span<const double> a, std::span<const double> b, double confidence) {
  if (a.size() != b.size()) {
    throw ValueError(fmt::format("{} samples cannot be paired with {}; measure both interleaved",
                                 a.size(), b.size()));
  }
  std::vector<double> ratios(a.size());
  std::transform(a.begin(), a.end(), b.begin(), ratios.begin(), std::divides<>());
  const Summary summary = summarise(ratios, confidence);
  return {summary.median, summary.median_interval, rank_test(a, b), a.size()};
}

}  // namespace d5

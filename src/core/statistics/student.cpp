// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/student.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Moments {
  double mean = 0;
  double variance_of_mean = kUnknown;  ///< for two samples or more
};

bool are_finite(std::span<const double> samples) {
  return std::ranges::all_of(samples, [](double sample) { return std::isfinite(sample); });
}

Moments moments_of(std::span<const double> samples) {
  const double n = double(samples.size());
  // Relative to the first sample, so that the mean of equal samples is exact.
  const double first = samples.front();
  Moments result;
  for (const double sample : samples) result.mean += sample - first;
  result.mean = first + result.mean / n;
  if (samples.size() < 2) return result;
  double squares = 0;
  for (const double sample : samples) squares += (sample - result.mean) * (sample - result.mean);
  result.variance_of_mean = squares / (n - 1) / n;
  return result;
}

}  // namespace

Estimate mean_with_interval(std::span<const double> samples, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw ValueError(
        fmt::format("confidence is {}, expected a number between 0 and 1", confidence));
  }
  Estimate result{kUnknown, {kUnknown, kUnknown}, kUnknown};
  if (samples.empty() || !are_finite(samples)) return result;
  const Moments moments = moments_of(samples);
  result.value = moments.mean;
  if (samples.size() < 2) return result;
  const boost::math::students_t law(double(samples.size()) - 1);
  const double t = boost::math::quantile(boost::math::complement(law, (1 - confidence) / 2));
  const double half = t * std::sqrt(moments.variance_of_mean);
  result.interval = {moments.mean - half, moments.mean + half};
  result.confidence = confidence;
  return result;
}

double differs_p_value(std::span<const double> samples, double mean) {
  if (samples.size() < 2 || !are_finite(samples)) return kUnknown;
  const Moments moments = moments_of(samples);
  const double distance = std::fabs(moments.mean - mean);
  if (moments.variance_of_mean == 0) return distance == 0 ? 1 : 0;
  const boost::math::students_t law(double(samples.size()) - 1);
  const double t = distance / std::sqrt(moments.variance_of_mean);
  return 2 * boost::math::cdf(boost::math::complement(law, t));
}

Estimate estimate_of_groups(std::span<const std::vector<double>> groups) {
  if (groups.size() == 1) return estimate(groups.front());
  std::vector<double> logarithms;
  for (const auto& samples : groups) logarithms.push_back(std::log(summarise(samples).median));
  Estimate mean = mean_with_interval(logarithms);
  mean.value = std::exp(mean.value);
  mean.interval = {std::exp(mean.interval.low), std::exp(mean.interval.high)};
  return mean;
}

double olympic_mean(std::span<const double> samples) {
  if (samples.size() < 3) return kUnknown;
  std::vector<double> ordered(samples.begin(), samples.end());
  std::ranges::sort(ordered);
  return std::accumulate(ordered.begin() + 1, ordered.end() - 1, 0.0) / double(ordered.size() - 2);
}

double is_smaller_p_value(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return kUnknown;
  const Moments first = moments_of(a), second = moments_of(b);
  const double variance = first.variance_of_mean + second.variance_of_mean;
  if (std::isnan(variance)) return kUnknown;
  if (variance == 0) {
    if (first.mean == second.mean) return 0.5;
    return first.mean < second.mean ? 0 : 1;
  }
  const auto part = [](const Moments& side, std::size_t count) {
    return side.variance_of_mean * side.variance_of_mean / (double(count) - 1);
  };
  const double freedom = variance * variance / (part(first, a.size()) + part(second, b.size()));
  const boost::math::students_t law(freedom);
  return boost::math::cdf(law, (first.mean - second.mean) / std::sqrt(variance));
}

}  // namespace d5

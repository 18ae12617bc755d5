// SPDX-License-Identifier: Apache-2.0
#include "d5/core/statistics/geometric_mean.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"

namespace d5 {

Estimate geometric_mean(std::span<const double> ratios, double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw ValueError(
        fmt::format("confidence is {}, expected a number between 0 and 1", confidence));
  }
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Estimate result{kNan, {kNan, kNan}, kNan};
  const auto has_logarithm = [](double ratio) { return ratio > 0 && std::isfinite(ratio); };
  if (ratios.empty() || !std::ranges::all_of(ratios, has_logarithm)) return result;
  const double n = double(ratios.size());
  double mean = 0, squares = 0;
  for (const double ratio : ratios) mean += std::log(ratio) / n;
  for (const double ratio : ratios) squares += std::pow(std::log(ratio) - mean, 2);
  result.value = std::exp(mean);
  if (ratios.size() < kFewestForMeanInterval) return result;
  const boost::math::students_t distribution(n - 1);
  const double t =
      boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
  const double half = t * std::sqrt(squares / (n - 1) / n);
  result.interval = {std::exp(mean - half), std::exp(mean + half)};
  result.confidence = confidence;
  return result;
}

}  // namespace d5

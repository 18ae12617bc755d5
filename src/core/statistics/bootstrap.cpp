// SPDX-License-Identifier: Apache-2.0
#include "core/statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "d5/core/tensor/random.hpp"

namespace d5::detail {

Interval bootstrap_interval(std::size_t samples,
                            const std::function<double(std::span<const std::size_t>)>& statistic) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  constexpr std::size_t kTimes = 1000;
  if (samples < 2) return {kNone, kNone};
  RandomStream random(0);
  std::vector<std::size_t> drawn(samples);
  std::vector<double> values;
  for (std::size_t i = 0; i < kTimes; ++i) {
    for (std::size_t& sample : drawn) sample = random.below(samples);
    const double value = statistic(drawn);
    if (!std::isnan(value)) values.push_back(value);
  }
  if (values.size() < kTimes / 2) return {kNone, kNone};
  std::ranges::sort(values);
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * double(values.size() - 1))];
  };
  return {at(0.025), at(0.975)};
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "core/statistics/two_modes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "d5/core/statistics/statistics.hpp"

namespace d5::detail {

std::optional<TwoModes> two_modes(std::span<const double> samples) {
  constexpr double kFewest = 0.2;          // share of the samples; fewer do not move the median
  constexpr double kTail = 0.05;           // share of the samples at either end that are outliers
  const double least_gap = std::log(1.2);  // the smallest relevant gap
  std::vector<double> sorted(samples.begin(), samples.end());
  std::ranges::sort(sorted);
  if (sorted.empty() || !(sorted.front() > 0) || !std::isfinite(sorted.back())) return {};
  const std::size_t count = sorted.size();
  const auto fewest = std::max<std::size_t>(2, std::size_t(std::ceil(kFewest * double(count))));
  const auto tail = std::size_t(kTail * double(count));
  std::size_t widest = 0;  // index of the first upper sample
  double gap = least_gap;
  for (std::size_t i = fewest; i + fewest <= count; ++i) {
    const double here = std::log(sorted[i] / sorted[i - 1]);
    if (here >= gap) gap = here, widest = i;
  }
  if (widest == 0) return {};
  const double below = std::log(sorted[widest - 1] / sorted[tail]);
  const double above = std::log(sorted[count - 1 - tail] / sorted[widest]);
  constexpr double kApart = 2;  // in widths of the narrower mode
  if (gap <= kApart * std::min(below, above)) return {};
  const std::span<const double> all(sorted);
  return TwoModes{.lower = summarise(all.first(widest)).median,
                  .upper = summarise(all.subspan(widest)).median,
                  .upper_share = double(count - widest) / double(count)};
}

}  // namespace d5::detail

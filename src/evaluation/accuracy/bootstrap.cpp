// SPDX-License-Identifier: Apache-2.0
#include "evaluation/accuracy/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "d5/core/tensor/random.hpp"
#include "evaluation/accuracy/accuracy_record.hpp"

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

Measurement accuracy_record(const std::string& metric, std::size_t samples,
                            const std::function<double(std::span<const std::size_t>)>& statistic) {
  Measurement record = accuracy_record(metric);
  record.statistic = {.of = Statistic::Of::single};
  std::vector<std::size_t> all(samples);
  std::iota(all.begin(), all.end(), std::size_t{0});
  record.samples = {statistic(all)};
  record.conditions["judged samples"] = finding(samples);
  const Interval interval = bootstrap_interval(samples, statistic);
  if (!std::isnan(interval.low)) {
    record.conditions["bootstrap interval"] =
        finding(fmt::format("[{:.4f}, {:.4f}]", interval.low, interval.high));
  }
  return record;
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/history_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace d5::detail {

bool makes_series(std::string_view condition) {
  // What differs from run to run, or says how long was measured, makes no other series.
  constexpr std::array<std::string_view, 5> kNot = {"repetition", "repetitions", "seed",
                                                    "steady_from", "warmup"};
  return std::ranges::find(kNot, condition) == kNot.end();
}

std::string series_of(const StoredMeasurement& stored) {
  const Measurement& m = stored.record;
  std::string series =
      fmt::format("{} {} {} {} {} on {}", m.subject.substr(0, m.subject.find('@')), m.framework,
                  m.device, m.metric, to_string(m.statistic), stored.hostname);
  for (const auto& [name, value] : m.conditions) {
    if (makes_series(name)) series += fmt::format(", {} {}", name, value);
  }
  return series;
}

bool competes(const StoredMeasurement& stored) {
  return stored.record.status == Status::passed && stored.record.direction != Direction::neither &&
         std::isfinite(stored.estimate.value);
}

bool is_better(const StoredMeasurement& stored, double than) {
  const double value = stored.estimate.value;
  return stored.record.direction == Direction::lower_is_better ? value < than : value > than;
}

}  // namespace d5::detail

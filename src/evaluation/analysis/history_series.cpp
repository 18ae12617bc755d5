// SPDX-License-Identifier: Apache-2.0
#include "evaluation/analysis/history_series.hpp"

#include <fmt/format.h>

#include <cmath>

namespace d5::detail {

std::string series_of(const StoredMeasurement& stored) {
  const Measurement& m = stored.record;
  std::string series =
      fmt::format("{} {} {} {} {} on {}", m.subject.substr(0, m.subject.find('@')), m.framework,
                  m.device, m.metric, to_string(m.statistic), stored.hostname);
  for (const auto& [name, condition] : m.conditions) {
    if (condition.role == Role::identity) series += fmt::format(", {} {}", name, condition.text());
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

inline constexpr double kNanosecond = 1e-9;  ///< in s

/// Start of a query's latency, in ns.
[[nodiscard]] inline std::int64_t latency_begin(const ScenarioResult& result,
                                                const QueryRecord& query) {
  return result.latency_from == LatencyFrom::schedule ? query.scheduled : query.issued;
}

[[nodiscard]] inline Statistic percentile_of(double q) {
  return {.of = Statistic::Of::quantile, .quantile = q};
}

/// A record of a scenario, without its conditions and status.
[[nodiscard]] inline Measurement record_of(std::string metric, std::string unit, Quantity quantity,
                                           std::vector<double> samples, Statistic statistic) {
  Measurement record;
  record.level = "evaluation";
  record.metric = std::move(metric);
  record.unit = std::move(unit);
  record.quantity = quantity;
  record.statistic = statistic;
  record.samples = std::move(samples);
  return record;
}

}  // namespace d5::detail

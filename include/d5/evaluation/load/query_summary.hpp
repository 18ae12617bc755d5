// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// Latencies of completely answered queries, in s, in the order of issue; a query ends with its
/// last sample.
[[nodiscard]] std::vector<double> query_latencies(const ScenarioResult& result);
/// Delay of each query's issue after its scheduled time, in s: the generator's own contribution.
[[nodiscard]] std::vector<double> query_lags(const ScenarioResult& result);
/// Answered samples/s, from the start of the schedule to the last answer; NaN without answers.
[[nodiscard]] double throughput(const ScenarioResult& result);

}  // namespace d5

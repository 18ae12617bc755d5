// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5 {

/// Seconds until a query's last sample was answered, of each query all of whose samples were, in
/// the order of asking.
[[nodiscard]] std::vector<double> query_latencies(const ScenarioResult& result);
/// Seconds between the schedule and the asking of each query: what the generator adds.
[[nodiscard]] std::vector<double> query_lags(const ScenarioResult& result);
/// Answered samples a second, from the first moment of the schedule to the last answer; NaN without
/// answers.
[[nodiscard]] double throughput(const ScenarioResult& result);

}  // namespace d5

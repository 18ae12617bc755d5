// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/evaluation/scenario.hpp"

namespace d5::detail {

/// How long a few queries took, in s, ascending: each was asked once the one before had its answer.
/// Empty if one has none.
[[nodiscard]] std::vector<double> latencies_alone(SystemUnderTest& system,
                                                  const ScenarioOptions& options,
                                                  std::int64_t samples_per_query = 1);

/// What is asked of a system where nobody says it.
struct UsualLoad {
  double rate = 10;  ///< queries a second: half of those that it answers one after the other
  double alone = 0;  ///< s that a query took, the median; 0: none was answered
};
[[nodiscard]] UsualLoad usual_load(SystemUnderTest& system, const ScenarioOptions& options);

/// Says in a record of its own what was asked, which no word of the scenario tells: "offered_rate",
/// "target_latency".
void tell_usual(ScenarioResult& result, const char* metric, const char* unit, double value);

}  // namespace d5::detail

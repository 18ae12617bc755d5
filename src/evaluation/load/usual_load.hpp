// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// How long a few queries took, in s, in the order of asking: each was asked once the one before
/// had its answer. Those without an answer are missing.
[[nodiscard]] std::vector<double> latencies_alone(SystemUnderTest& system,
                                                  const ScenarioOptions& options,
                                                  std::int64_t queries,
                                                  std::int64_t samples_per_query = 1);

/// What is asked of a system where nobody says it.
struct UsualLoad {
  double rate = 10;    ///< queries a second: half of those that it answers one after the other
  double service = 0;  ///< s that a query takes; 0: none was answered
};
/// Asks thirty queries after one that warms the system up. What a query takes is the upper end of
/// their mean's 95% interval, so that one whose times vary is not asked too much by chance.
[[nodiscard]] UsualLoad usual_load(SystemUnderTest& system, const ScenarioOptions& options);

/// How late each of so many answers may be, in s, so that a system that takes `service` s for a
/// query and is asked for half of what it reaches, at random moments, keeps it in 199 of 200 runs.
///
/// With E = `service` and load r = 1/2, an M/G/1 queue's waiting time W has P(W > t) <=
/// exp(-(1 - r) t / E) if its times of service vary no more than exponential ones (new better than
/// used in expectation: fixed ones are), and with the time of service itself the latency T has
/// P(T > t) <= exp(-(1 - r) t / E) / r. The n latencies of a run are all below t but for a
/// probability of n times that.
/// Source: Kingman, "Inequalities in the Theory of Queues" (1970), for W.
[[nodiscard]] double usual_target(double service, double queries);

/// Says in a record of its own what was asked, which no word of the scenario tells: "offered_rate",
/// "target_latency".
void tell_usual(ScenarioResult& result, const char* metric, const char* unit, double value);

}  // namespace d5::detail

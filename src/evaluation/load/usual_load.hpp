// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"

namespace d5::detail {

/// Latencies, in s, of a few queries, each issued after the previous answer. Unanswered queries are
/// left out.
[[nodiscard]] std::vector<double> latencies_alone(SystemUnderTest& system,
                                                  const ScenarioOptions& options,
                                                  std::int64_t queries,
                                                  std::int64_t samples_per_query = 1);

/// Default load for a system.
struct UsualLoad {
  double rate = 10;    ///< queries/s: half of the rate at which it answers one after another
  double service = 0;  ///< service time of a query, in s; 0: none was answered
};
/// Issues thirty queries after a warm-up query. The service time is the upper end of their mean's
/// 95% interval, so that variation does not overload the system by chance.
[[nodiscard]] UsualLoad usual_load(SystemUnderTest& system, const ScenarioOptions& options);

/// Latency target, in s, that a system with service time `service` meets for all of `queries`
/// answers in 199 of 200 runs, if Poisson arrivals load it to one half.
///
/// With E = `service` and load r = 1/2, an M/G/1 queue's waiting time W has P(W > t) <=
/// exp(-(1 - r) t / E) if its service times are new better than used in expectation (constant ones
/// are). With the service time itself, the latency T has P(T > t) <= exp(-(1 - r) t / E) / r. By
/// the union bound, one of n latencies exceeds t with a probability of at most n times that.
/// Source: Kingman, "Inequalities in the Theory of Queues" (1970), for W.
[[nodiscard]] double usual_target(double service, double queries);

/// Adds a record of a load that the scenario's options do not name: "offered_rate",
/// "target_latency".
void tell_usual(ScenarioResult& result, const char* metric, const char* unit, double value);

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/arrival_stream.hpp"
#include "d5/evaluation/scenario.hpp"

namespace d5::detail {

/// Asks at the stream's moments, whether the system keeps up or not: latency counts from them.
/// Throws: as `Scenario::run`.
[[nodiscard]] ScenarioResult ask_on_schedule(SystemUnderTest& system,
                                             const ScenarioOptions& options,
                                             ArrivalStream& arrivals);

/// The scenario of an arrival stream: `O` is its options, and `arrivals(seed)` makes the stream.
template <class O>
class ScheduledScenario final : public Scenario {
 public:
  using Options = O;
  explicit ScheduledScenario(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = options_.arrivals(options.seed);
    return ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace d5::detail

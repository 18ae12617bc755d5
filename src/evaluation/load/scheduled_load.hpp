// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/load/arrival_stream.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/usual_load.hpp"

namespace d5::detail {

/// Issues queries at the stream's times, whether the system keeps up or not; latency counts from
/// those times.
/// Throws: as `Scenario::run`.
[[nodiscard]] ScenarioResult ask_on_schedule(SystemUnderTest& system,
                                             const ScenarioOptions& options,
                                             ArrivalStream& arrivals);

/// Help text of the option `rate`.
constexpr const char* kRateHelp =
    "rate in queries/s; 0: half the system's sequential rate, measured with a few queries";

/// The scenario of an arrival stream, with options `O`, whose `arrivals(seed)` makes the stream. A
/// `rate` of 0 is measured first. `O` may have `rate_within(mean)` and `usual_length()`.
template <class O>
class ScheduledScenario final : public Scenario {
 public:
  using Options = O;
  explicit ScheduledScenario(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    O chosen = options_;
    if constexpr (requires { chosen.rate; }) {
      if (chosen.rate == 0) {
        const double mean = usual_load(system, options).rate;
        chosen.rate = mean;
        if constexpr (requires { chosen.rate_within(mean); }) {
          chosen.rate = chosen.rate_within(mean);
        }
        ScenarioResult result = run_at(chosen, system, options);
        tell_usual(result, "offered_rate", "query/s", mean);
        return result;
      }
    }
    return run_at(chosen, system, options);
  }
  [[nodiscard]] Length usual_length() const override {
    if constexpr (requires { options_.usual_length(); }) return options_.usual_length();
    return {};
  }

 private:
  static ScenarioResult run_at(const O& chosen, SystemUnderTest& system,
                               const ScenarioOptions& options) {
    const auto arrivals = chosen.arrivals(options.seed);
    return ask_on_schedule(system, options, *arrivals);
  }

  Options options_;
};

}  // namespace d5::detail

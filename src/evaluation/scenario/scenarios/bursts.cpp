// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Bursts of queries between silences (on-off arrivals).
struct BurstsOptions {
  double rate = 0, on = 0.2, off = 1.8;
  void declare(OptionList& options) {
    options.add(
        "rate", rate,
        "rate within a burst, in queries/s; 0: half the system's sequential rate on average",
        {.least = 0});
    options.add("on", on, "mean length of a burst, in s", {.above = 0});
    options.add("off", off, "mean length of a silence, in s", {.above = 0});
  }
  /// The rate within a burst for a mean rate that includes silences.
  [[nodiscard]] double rate_within(double mean) const { return mean * (on + off) / on; }
  [[nodiscard]] Scenario::Length usual_length() const { return {.seconds = 20 * (on + off)}; }
  [[nodiscard]] auto arrivals(std::uint64_t seed) const {
    return burst_arrivals({.rate = rate, .on_seconds = on, .off_seconds = off}, seed);
  }
};

}  // namespace

void register_bursts(Registry<ScenarioEntry>& registry) {
  registry.add("bursts", ScenarioEntry::of<detail::ScheduledScenario<BurstsOptions>>(
                             "on-off arrivals: bursts of queries between silences"));
}

}  // namespace d5::scenario

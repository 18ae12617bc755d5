// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Nothing for long, and then all at once.
struct BurstsOptions {
  double rate = 0, on = 0.2, off = 1.8;
  void declare(OptionList& options) {
    options.add("rate", rate,
                "queries a second within a burst; 0: so that all together come at half the rate "
                "that it answers one after the other",
                {.least = 0});
    options.add("on", on, "s, mean length of a burst", {.above = 0});
    options.add("off", off, "s, mean length of a silence", {.above = 0});
  }
  /// Of bursts that make such a rate together with the silences.
  [[nodiscard]] double rate_within(double mean) const { return mean * (on + off) / on; }
  [[nodiscard]] Scenario::Length usual_length() const { return {.seconds = 20 * (on + off)}; }
  [[nodiscard]] auto arrivals(std::uint64_t seed) const {
    return burst_arrivals({.rate = rate, .on_seconds = on, .off_seconds = off}, seed);
  }
};

}  // namespace

void register_bursts(Registry<ScenarioEntry>& registry) {
  registry.add("bursts", ScenarioEntry::of<detail::ScheduledScenario<BurstsOptions>>(
                             "bursts of queries with silence between"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Nothing for long, and then all at once.
struct BurstsOptions {
  double rate = 100, on = 1, off = 9;
  void declare(OptionList& options) {
    options.add("rate", rate, "queries a second within a burst", {.above = 0});
    options.add("on", on, "s, mean length of a burst", {.above = 0});
    options.add("off", off, "s, mean length of a silence", {.above = 0});
  }
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

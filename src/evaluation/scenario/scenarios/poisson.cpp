// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Queries of many independent users.
struct PoissonOptions {
  double rate = 0;
  void declare(OptionList& options) { options.add("rate", rate, detail::kRateHelp, {.least = 0}); }
  [[nodiscard]] auto arrivals(std::uint64_t seed) const { return poisson_arrivals(rate, seed); }
};

}  // namespace

void register_poisson(Registry<ScenarioEntry>& registry) {
  registry.add("poisson", ScenarioEntry::of<detail::ScheduledScenario<PoissonOptions>>(
                              "Poisson arrivals: queries of many independent users"));
}

}  // namespace d5::scenario

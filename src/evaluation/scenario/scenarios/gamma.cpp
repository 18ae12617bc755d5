// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Arrivals that are more clustered, or more regular, than Poisson's.
struct GammaOptions {
  double rate = 0, variation = 2;
  void declare(OptionList& options) {
    options.add("rate", rate, detail::kRateHelp, {.least = 0});
    options.add("variation", variation,
                "coefficient of variation of the gaps: standard deviation over mean", {.above = 0});
  }
  [[nodiscard]] auto arrivals(std::uint64_t seed) const {
    return gamma_arrivals(rate, variation, seed);
  }
};

}  // namespace

void register_gamma(Registry<ScenarioEntry>& registry) {
  registry.add("gamma",
               ScenarioEntry::of<detail::ScheduledScenario<GammaOptions>>(
                   "gamma-distributed gaps: more regular or more clustered than Poisson arrivals"));
}

}  // namespace d5::scenario

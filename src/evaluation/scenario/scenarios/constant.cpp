// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Queries of a camera or a sensor, at a fixed rate.
struct ConstantOptions {
  double rate = 0;
  void declare(OptionList& options) { options.add("rate", rate, detail::kRateHelp, {.least = 0}); }
  [[nodiscard]] auto arrivals(std::uint64_t) const { return constant_arrivals(rate); }
};

}  // namespace

void register_constant(Registry<ScenarioEntry>& registry) {
  registry.add("constant", ScenarioEntry::of<detail::ScheduledScenario<ConstantOptions>>(
                               "constant rate: queries at equal intervals"));
}

}  // namespace d5::scenario

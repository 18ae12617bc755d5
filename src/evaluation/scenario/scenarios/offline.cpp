// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// All samples at once. By LoadGen.
struct OfflineOptions : detail::LoadGenOptions {
  OfflineOptions() : LoadGenOptions{Scenario::offline} {}
  void declare(OptionList& options) {
    options.add("rate", rate, "expected rate, in samples/s; 0: measured with a few queries before",
                {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_offline(Registry<ScenarioEntry>& registry) {
  registry.add("offline", ScenarioEntry::of<detail::LoadGenScenario<OfflineOptions>>(
                              "MLPerf offline: all samples at once"));
}

}  // namespace d5::scenario

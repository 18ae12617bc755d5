// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// A pile of work. By LoadGen.
struct OfflineOptions : detail::LoadGenOptions {
  OfflineOptions() : LoadGenOptions{Scenario::offline} {}
  void declare(OptionList& options) {
    options.add("rate", rate, "samples a second that it may reach; 0: found by asking a few before",
                {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_offline(Registry<ScenarioEntry>& registry) {
  registry.add("offline", ScenarioEntry::of<detail::LoadGenScenario<OfflineOptions>>(
                              "MLPerf: all samples at once"));
}

}  // namespace d5::scenario

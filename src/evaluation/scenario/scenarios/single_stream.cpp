// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// A phone: the next query once the last is answered. By LoadGen.
struct SingleStreamOptions : detail::LoadGenOptions {
  SingleStreamOptions() : LoadGenOptions{Scenario::single_stream} {}
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency, "s; 0: found by asking a few before",
                {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_single_stream(Registry<ScenarioEntry>& registry) {
  registry.add("single_stream", ScenarioEntry::of<detail::LoadGenScenario<SingleStreamOptions>>(
                                    "MLPerf: one query after the other"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// Several cameras at once. By LoadGen.
struct MultiStreamOptions : detail::LoadGenOptions {
  MultiStreamOptions() : LoadGenOptions{Scenario::multi_stream} {}
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency,
                "s of a query; 0: found by asking a few before", {.least = 0});
    options.add("samples_per_query", samples_per_query, "0: 8, or as the files say", {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_multi_stream(Registry<ScenarioEntry>& registry) {
  registry.add("multi_stream", ScenarioEntry::of<detail::LoadGenScenario<MultiStreamOptions>>(
                                   "MLPerf: one query of several samples after the other"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// Queries of a phone: the next one follows the answer to the last. By LoadGen.
struct SingleStreamOptions : detail::LoadGenOptions {
  SingleStreamOptions() : LoadGenOptions{Scenario::single_stream} {}
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency,
                "expected latency in s; 0: measured with a few queries before", {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_single_stream(Registry<ScenarioEntry>& registry) {
  registry.add("single_stream", ScenarioEntry::of<detail::LoadGenScenario<SingleStreamOptions>>(
                                    "MLPerf single-stream: one query after the other"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// Queries of several samples, such as the images of several cameras. By LoadGen.
struct MultiStreamOptions : detail::LoadGenOptions {
  MultiStreamOptions() : LoadGenOptions{Scenario::multi_stream} {}
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency,
                "expected latency of a query, in s; 0: measured with a few queries before",
                {.least = 0});
    options.add("samples_per_query", samples_per_query,
                "samples per query; 0: 8, or as the files say", {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_multi_stream(Registry<ScenarioEntry>& registry) {
  registry.add("multi_stream",
               ScenarioEntry::of<detail::LoadGenScenario<MultiStreamOptions>>(
                   "MLPerf multi-stream: queries of several samples, one after the other"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// Many users, whose answers are late after a bound. By LoadGen.
struct ServerOptions : detail::LoadGenOptions {
  ServerOptions() : LoadGenOptions{Scenario::server} {}
  void declare(OptionList& options) {
    options.add("rate", rate,
                "queries a second; 0: half of those that it answers one after the other, found by "
                "asking a few, or as the files say",
                {.least = 0});
    options.add(
        "target_latency", target_latency,
        "s; 0: 0.1, or where the rate is found what a queue at half its load keeps (some 25 times "
        "what a query takes alone), if that is longer, or as the files say",
        {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_server(Registry<ScenarioEntry>& registry) {
  registry.add("server", ScenarioEntry::of<detail::LoadGenScenario<ServerOptions>>(
                             "MLPerf: queries at random moments, with a bound on latency"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

/// Queries of many users, with a latency bound. By LoadGen.
struct ServerOptions : detail::LoadGenOptions {
  ServerOptions() : LoadGenOptions{Scenario::server} {}
  void declare(OptionList& options) {
    options.add("rate", rate,
                "rate in queries/s; 0: half the system's sequential rate, measured with a few "
                "queries, or as the files say",
                {.least = 0});
    options.add(
        "target_latency", target_latency,
        "latency bound in s; 0: 0.1, or as the files say, or, if longer and the rate is measured, "
        "some 25 times the latency of a single query, which a queue at half its load meets",
        {.least = 0});
    options.add(
        "target_ttft", target_ttft,
        "bound on the time to the first token in s, of systems that report pieces; 0: none, "
        "or as the files say",
        {.least = 0});
    options.add(
        "target_tpot", target_tpot,
        "bound on the time per output token in s, likewise; answers have two tokens or more",
        {.least = 0});
    declare_files(options);
  }
};

}  // namespace

void register_server(Registry<ScenarioEntry>& registry) {
  registry.add("server", ScenarioEntry::of<detail::LoadGenScenario<ServerOptions>>(
                             "MLPerf server: Poisson arrivals with a latency bound"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

struct ServerOptions : detail::LoadGenOptions {
  void declare(OptionList& options) {
    options.add("rate", rate, "queries a second; 0: 1, or as the files say", {.least = 0});
    options.add("target_latency", target_latency, "s; 0: 0.1, or as the files say", {.least = 0});
    declare_files(options);
  }
};

/// Many users, whose answers are late after a bound. By LoadGen.
class Server final : public Scenario {
 public:
  using Options = ServerOptions;
  explicit Server(const Options& options) : options_(options) {
    options_.scenario = detail::LoadGenOptions::Scenario::server;
  }
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    return detail::run_loadgen(options_, system, options);
  }

 private:
  Options options_;
};

}  // namespace

void register_server(Registry<ScenarioEntry>& registry) {
  registry.add("server", ScenarioEntry::of<Server>(
                             "MLPerf: queries at random moments, with a bound on latency"));
}

}  // namespace d5::scenario

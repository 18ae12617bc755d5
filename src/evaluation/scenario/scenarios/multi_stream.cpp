// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

struct MultiStreamOptions : detail::LoadGenOptions {
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency,
                "s of a query; 0: found by asking a few before", {.least = 0});
    options.add("samples_per_query", samples_per_query, "0: 8, or as the files say", {.least = 0});
    declare_files(options);
  }
};

/// Several cameras at once. By LoadGen.
class MultiStream final : public Scenario {
 public:
  using Options = MultiStreamOptions;
  explicit MultiStream(const Options& options) : options_(options) {
    options_.scenario = detail::LoadGenOptions::Scenario::multi_stream;
  }
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    return detail::run_loadgen(options_, system, options);
  }

 private:
  Options options_;
};

}  // namespace

void register_multi_stream(Registry<ScenarioEntry>& registry) {
  registry.add("multi_stream", ScenarioEntry::of<MultiStream>(
                                   "MLPerf: one query of several samples after the other"));
}

}  // namespace d5::scenario

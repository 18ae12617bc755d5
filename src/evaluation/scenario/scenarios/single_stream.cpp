// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

struct SingleStreamOptions : detail::LoadGenOptions {
  void declare(OptionList& options) {
    options.add("expected_latency", expected_latency, "s; 0: found by asking a few before",
                {.least = 0});
    declare_files(options);
  }
};

/// A phone: the next query once the last is answered. By LoadGen.
class SingleStream final : public Scenario {
 public:
  using Options = SingleStreamOptions;
  explicit SingleStream(const Options& options) : options_(options) {
    options_.scenario = detail::LoadGenOptions::Scenario::single_stream;
  }
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    return detail::run_loadgen(options_, system, options);
  }

 private:
  Options options_;
};

}  // namespace

void register_single_stream(Registry<ScenarioEntry>& registry) {
  registry.add("single_stream",
               ScenarioEntry::of<SingleStream>("MLPerf: one query after the other"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/scenario/loadgen/loadgen_run.hpp"

namespace d5::scenario {
namespace {

struct OfflineOptions : detail::LoadGenOptions {
  void declare(OptionList& options) {
    options.add("rate", rate, "samples a second that it may reach; 0: found by asking a few before",
                {.least = 0});
    declare_files(options);
  }
};

/// A pile of work. By LoadGen.
class Offline final : public Scenario {
 public:
  using Options = OfflineOptions;
  explicit Offline(const Options& options) : options_(options) {
    options_.scenario = detail::LoadGenOptions::Scenario::offline;
  }
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    return detail::run_loadgen(options_, system, options);
  }

 private:
  Options options_;
};

}  // namespace

void register_offline(Registry<ScenarioEntry>& registry) {
  registry.add("offline", ScenarioEntry::of<Offline>("MLPerf: all samples at once"));
}

}  // namespace d5::scenario

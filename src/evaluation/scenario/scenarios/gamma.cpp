// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

struct GammaOptions {
  double rate = 10, variation = 2;
  void declare(OptionList& options) {
    options.add("rate", rate, "queries a second", {.above = 0});
    options.add("variation", variation, "of the gaps: standard deviation over mean", {.above = 0});
  }
};

/// Users who come in clusters, or keep their distance.
class Gamma final : public Scenario {
 public:
  using Options = GammaOptions;
  explicit Gamma(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = gamma_arrivals(options_.rate, options_.variation, options.seed);
    return detail::ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace

void register_gamma(Registry<ScenarioEntry>& registry) {
  registry.add("gamma",
               ScenarioEntry::of<Gamma>("queries at random moments, more even or more clustered"));
}

}  // namespace d5::scenario

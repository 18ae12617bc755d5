// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

struct PoissonOptions {
  double rate = 10;
  void declare(OptionList& options) { options.add("rate", rate, "queries a second", {.above = 0}); }
};

/// Many users who know nothing of each other.
class Poisson final : public Scenario {
 public:
  using Options = PoissonOptions;
  explicit Poisson(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = poisson_arrivals(options_.rate, options.seed);
    return detail::ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace

void register_poisson(Registry<ScenarioEntry>& registry) {
  registry.add("poisson", ScenarioEntry::of<Poisson>("queries at random moments, of many users"));
}

}  // namespace d5::scenario

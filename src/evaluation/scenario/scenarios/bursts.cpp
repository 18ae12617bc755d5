// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

struct BurstsOptions {
  double rate = 100, on = 1, off = 9;
  void declare(OptionList& options) {
    options.add("rate", rate, "queries a second within a burst", {.above = 0});
    options.add("on", on, "s, mean length of a burst", {.above = 0});
    options.add("off", off, "s, mean length of a silence", {.above = 0});
  }
};

/// Nothing for long, and then all at once.
class Bursts final : public Scenario {
 public:
  using Options = BurstsOptions;
  explicit Bursts(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = burst_arrivals(
        {.rate = options_.rate, .on_seconds = options_.on, .off_seconds = options_.off},
        options.seed);
    return detail::ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace

void register_bursts(Registry<ScenarioEntry>& registry) {
  registry.add("bursts", ScenarioEntry::of<Bursts>("bursts of queries with silence between"));
}

}  // namespace d5::scenario

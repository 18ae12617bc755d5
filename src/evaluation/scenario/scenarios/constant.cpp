// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

struct ConstantOptions {
  double rate = 10;
  void declare(OptionList& options) { options.add("rate", rate, "queries a second", {.above = 0}); }
};

/// A metronome: what a camera or a sensor asks.
class Constant final : public Scenario {
 public:
  using Options = ConstantOptions;
  explicit Constant(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = constant_arrivals(options_.rate);
    return detail::ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace

void register_constant(Registry<ScenarioEntry>& registry) {
  registry.add("constant", ScenarioEntry::of<Constant>("queries at equal distances"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

struct RecordedOptions {
  RecordingOptions recording = {};
  void declare(OptionList& options) {
    options.add("file", recording.file, "CSV: seconds, ascending, in its first column");
    options.add("speed", recording.speed, "2: in half the time", {.above = 0});
    options.add("from", recording.from, "s of the recording where it begins", {.least = 0});
    options.add("to", recording.to, "s of the recording where it ends; 0: its end", {.least = 0});
    options.add("loop", recording.loop, "again and again, until the run ends");
  }
};

/// What a service really saw.
class Recorded final : public Scenario {
 public:
  using Options = RecordedOptions;
  explicit Recorded(const Options& options) : options_(options) {}
  ScenarioResult run(SystemUnderTest& system, const ScenarioOptions& options) override {
    const auto arrivals = recorded_arrivals(options_.recording);
    return detail::ask_on_schedule(system, options, *arrivals);
  }

 private:
  Options options_;
};

}  // namespace

void register_recorded(Registry<ScenarioEntry>& registry) {
  registry.add("recorded", ScenarioEntry::of<Recorded>("queries at recorded moments"));
}

}  // namespace d5::scenario

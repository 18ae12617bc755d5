// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// What a service really saw.
struct RecordedOptions {
  RecordingOptions recording = {};
  void declare(OptionList& options) {
    options.add("file", recording.file, "CSV: seconds, ascending, in its first column");
    options.add("speed", recording.speed, "2: in half the time", {.above = 0});
    options.add("from", recording.from, "s of the recording where it begins", {.least = 0});
    options.add("to", recording.to, "s of the recording where it ends; 0: its end", {.least = 0});
    options.add("loop", recording.loop, "again and again, until the run ends");
  }
  [[nodiscard]] auto arrivals(std::uint64_t) const { return recorded_arrivals(recording); }
};

}  // namespace

void register_recorded(Registry<ScenarioEntry>& registry) {
  registry.add("recorded", ScenarioEntry::of<detail::ScheduledScenario<RecordedOptions>>(
                               "queries at recorded moments"));
}

}  // namespace d5::scenario

// SPDX-License-Identifier: Apache-2.0
#include "core/entries/path_option.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/scheduled_load.hpp"

namespace d5::scenario {
namespace {

/// Arrival times of a real service.
struct RecordedOptions {
  RecordingOptions recording = {};
  void declare(OptionList& options) {
    options.add("file", recording.file, "CSV file with ascending seconds in its first column",
                detail::path_text());
    options.add("speed", recording.speed, "speed of the replay; 2: in half the time", {.above = 0});
    options.add("from", recording.from, "first second of the recording", {.least = 0});
    options.add("to", recording.to, "last second of the recording; 0: its end", {.least = 0});
    options.add("loop", recording.loop, "repeat the recording until the run ends");
  }
  [[nodiscard]] auto arrivals(std::uint64_t) const { return recorded_arrivals(recording); }
};

}  // namespace

void register_recorded(Registry<ScenarioEntry>& registry) {
  registry.add("recorded", ScenarioEntry::of<detail::ScheduledScenario<RecordedOptions>>(
                               "recorded arrivals: queries at the times of a file"));
}

}  // namespace d5::scenario

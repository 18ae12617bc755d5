// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "level2_training/optimization/shared/milestones.hpp"
#include "level2_training/optimization/shared/schedule_parts.hpp"

namespace d5 {
namespace {

struct SequenceOptions {
  std::vector<EntryChoice> parts = {};
  std::vector<double> at = {};

  void declare(OptionList& options) {
    options.add("parts", parts, "schedules, one after another", "schedule");
    options.add("at", at, "times at which the next one begins, ascending", {.least = 1});
  }
};

/// Runs schedules one after another; the time of each starts at the end of the one before it.
class SequenceSchedule final : public Schedule {
 public:
  using Options = SequenceOptions;
  explicit SequenceSchedule(const Options& options)
      : at_(detail::milestones("sequence", options.at)), parts_("sequence", options.parts) {
    if (parts_.size() == at_.size() + 1) return;
    throw ValueError(fmt::format(
        "schedule sequence: {} parts begin at {} times; expected one time less than parts",
        parts_.size(), at_.size()));
  }

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    now_ = std::ranges::upper_bound(at_, time) - at_.begin();
    return parts_[std::size_t(now_)].at(now_ == 0 ? time : time - at_[std::size_t(now_ - 1)],
                                        initial);
  }
  [[nodiscard]] Observes observes() const override { return parts_.observes(); }
  void observe(double loss) override { parts_.observe(std::size_t(now_), loss); }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state = parts_.state();
    state["part"] = Tensor::scalar(now_);
    return state;
  }
  void restore(const ValueMap& state) override {
    now_ = state_entry(state, "part", "schedule sequence").item<std::int64_t>();
    if (now_ < 0 || now_ >= std::int64_t(parts_.size())) {
      throw ValueError(
          fmt::format("schedule sequence: saved state is in part {} of {}", now_, parts_.size()));
    }
    parts_.restore(state);
  }

 private:
  std::vector<std::int64_t> at_;
  detail::ScheduleParts parts_;
  std::int64_t now_ = 0;
};

}  // namespace

namespace schedule {

void register_sequence(Registry<ScheduleEntry>& registry) {
  registry.add("sequence",
               ScheduleEntry::of<SequenceSchedule>("sequence of schedules, one after another"));
}

}  // namespace schedule
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/schedule.hpp"
#include "level2_training/optimization/shared/milestones.hpp"

namespace d5 {
namespace {

struct SequenceOptions {
  std::vector<EntryChoice> parts = {};
  std::vector<double> at = {};

  void declare(OptionList& options) {
    options.add("parts", parts, "one after another", "schedule");
    options.add("at", at, "times at which the next one begins, ascending", {.least = 1});
  }
};

/// Schedules one after another; the time of each begins where the one before it ends.
class SequenceSchedule final : public Schedule {
 public:
  using Options = SequenceOptions;
  explicit SequenceSchedule(const Options& options)
      : at_(detail::milestones("sequence", options.at)) {
    for (const EntryChoice& part : options.parts) {
      parts_.push_back(schedules().at(part.name).make(part.settings));
    }
    if (parts_.size() != at_.size() + 1) {
      throw ValueError(fmt::format(
          "schedule sequence: {} parts begin at {} times; expected one time less than parts",
          parts_.size(), at_.size()));
    }
    for (const auto& part : parts_) {
      if (part->observes() == Observes::nothing) continue;
      if (observes_ != Observes::nothing && observes_ != part->observes()) {
        throw Unsupported(
            "schedule sequence: one part observes the training loss, another one the test loss; "
            "choose one loss for all");
      }
      observes_ = part->observes();
    }
  }

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    now_ = std::ranges::upper_bound(at_, time) - at_.begin();
    return parts_[std::size_t(now_)]->at(now_ == 0 ? time : time - at_[std::size_t(now_ - 1)],
                                         initial);
  }
  [[nodiscard]] Observes observes() const override { return observes_; }
  void observe(double loss) override {
    Schedule& part = *parts_[std::size_t(now_)];
    if (part.observes() == observes_) part.observe(loss);
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state{{"part", Tensor::scalar(now_)}};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      for (const auto& [name, value] : parts_[i]->state()) {
        state[fmt::format("{}/{}", i, name)] = value;
      }
    }
    return state;
  }
  void restore(const ValueMap& state) override {
    now_ = state_entry(state, "part", "schedule sequence").item<std::int64_t>();
    if (now_ < 0 || now_ >= std::int64_t(parts_.size())) {
      throw ValueError(
          fmt::format("schedule sequence: saved state is in part {} of {}", now_, parts_.size()));
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::string prefix = fmt::format("{}/", i);
      ValueMap its;
      for (const auto& [name, value] : state) {
        if (name.starts_with(prefix)) its[name.substr(prefix.size())] = value;
      }
      parts_[i]->restore(its);
    }
  }

 private:
  std::vector<std::int64_t> at_;
  std::vector<std::shared_ptr<Schedule>> parts_;
  Observes observes_ = Observes::nothing;
  std::int64_t now_ = 0;
};

}  // namespace

namespace schedule {

void register_sequence(Registry<ScheduleEntry>& registry) {
  registry.add("sequence", ScheduleEntry::of<SequenceSchedule>("schedules one after another"));
}

}  // namespace schedule
}  // namespace d5

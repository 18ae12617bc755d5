// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/schedule_parts.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "level2_training/optimization/shared/state_parts.hpp"

namespace d5::detail {

using Observes = Schedule::Observes;

ScheduleParts::ScheduleParts(std::string who, const std::vector<EntryChoice>& parts) {
  for (const EntryChoice& part : parts) {
    parts_.push_back(schedules().at(part.name).make(part.settings));
    const Observes observes = parts_.back()->observes();
    if (observes == Observes::nothing) continue;
    if (observes_ != Observes::nothing && observes_ != observes) {
      throw Unsupported(
          fmt::format("schedule {}: one part observes the training loss, another one the test "
                      "loss; choose one loss for all",
                      who));
    }
    observes_ = observes;
  }
}

void ScheduleParts::observe(std::size_t i, double loss) {
  if (parts_[i]->observes() != Observes::nothing) parts_[i]->observe(loss);
}

ValueMap ScheduleParts::state() const {
  ValueMap state;
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    add_part(state, fmt::format("{}/", i), parts_[i]->state());
  }
  return state;
}

void ScheduleParts::restore(const ValueMap& state) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->restore(part_of(state, fmt::format("{}/", i)));
  }
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5::detail {

/// The schedules that a composite schedule consists of.
class ScheduleParts {
 public:
  /// `who` is the schedule that they make up. Throws: what making them throws; Unsupported if they
  /// observe different losses.
  ScheduleParts(std::string who, const std::vector<EntryChoice>& parts);

  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  [[nodiscard]] Schedule& operator[](std::size_t i) { return *parts_[i]; }
  [[nodiscard]] Schedule::Observes observes() const { return observes_; }
  /// Passes the loss to part `i`, if it observes one.
  void observe(std::size_t i, double loss);
  /// State of all parts, under their numbers.
  [[nodiscard]] ValueMap state() const;
  void restore(const ValueMap& state);

 private:
  std::vector<std::shared_ptr<Schedule>> parts_;
  Schedule::Observes observes_ = Schedule::Observes::nothing;
};

}  // namespace d5::detail

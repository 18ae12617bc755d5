// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/schedule.hpp"
#include "level2_training/optimization/shared/milestones.hpp"

namespace d5 {
namespace {

struct MultiStepOptions {
  std::vector<double> at = {};
  double factor = 0.1;

  void declare(OptionList& options) {
    options.add("at", at, "times at which the value is multiplied, ascending", {.least = 0});
    options.add("factor", factor, "factor on the value at each of these times", {.least = 0});
  }
};

/// initial * factor^n after n of the times.
class MultiStep final : public Schedule {
 public:
  using Options = MultiStepOptions;
  explicit MultiStep(const Options& options)
      : factor_(options.factor), at_(detail::milestones("multi_step", options.at)) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const auto steps = std::ranges::upper_bound(at_, time) - at_.begin();
    return initial * std::pow(factor_, double(steps));
  }

 private:
  double factor_;
  std::vector<std::int64_t> at_;
};

}  // namespace

namespace schedule {

void register_multi_step(Registry<ScheduleEntry>& registry) {
  registry.add("multi_step",
               ScheduleEntry::of<MultiStep>(
                   "multi-step decay: multiplies the value by a factor at given times"));
}

}  // namespace schedule
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct StepOptions {
  std::int64_t size = 0;
  double factor = 0.1;

  void declare(OptionList& options) {
    options.add("size", size, "time between steps; has to be given", {.least = 0});
    options.add("factor", factor, "factor on the value at each step", {.least = 0});
  }
};

/// initial * factor^floor(t / size)
class Step final : public Schedule {
 public:
  using Options = StepOptions;
  explicit Step(const Options& options) : options_(options) {
    if (options.size == 0) throw ValueError("schedule step: give its size, the time between steps");
  }
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    return initial * std::pow(options_.factor, double(time / options_.size));
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_step(Registry<ScheduleEntry>& registry) {
  registry.add("step", ScheduleEntry::of<Step>(
                           "step decay: multiplies the value by a factor at equal intervals"));
}

}  // namespace schedule
}  // namespace d5

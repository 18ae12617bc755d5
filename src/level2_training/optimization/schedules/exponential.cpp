// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct ExponentialOptions {
  double factor = 0.99;

  void declare(OptionList& options) {
    options.add("factor", factor, "factor per step or epoch", {.least = 0});
  }
};

/// initial * factor^t
class Exponential final : public Schedule {
 public:
  using Options = ExponentialOptions;
  explicit Exponential(const Options& options) : options_(options) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    return initial * std::pow(options_.factor, double(time));
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_exponential(Registry<ScheduleEntry>& registry) {
  registry.add("exponential",
               ScheduleEntry::of<Exponential>(
                   "exponential decay: multiplies the value by a factor each step or epoch"));
}

}  // namespace schedule
}  // namespace d5

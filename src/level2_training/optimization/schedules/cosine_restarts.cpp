// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numbers>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct CosineRestartsOptions {
  std::int64_t first = 10;
  std::int64_t times = 1;
  double end = 0;

  void declare(OptionList& options) {
    options.add("first", first, "time until the first restart", {.least = 1});
    options.add("times", times, "factor by which each period is longer than the one before",
                {.least = 1});
    options.add("end", end, "value before a restart as a share of the initial one");
  }
};

/// initial * (end + (1 - end) * (1 + cos(pi s / period)) / 2), s since the last restart.
///
/// Source: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts" (ICLR
/// 2017), equation 5.
class CosineRestarts final : public Schedule {
 public:
  using Options = CosineRestartsOptions;
  explicit CosineRestarts(const Options& options) : options_(options) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    std::int64_t since = time, period = options_.first;
    if (options_.times == 1) {
      since %= period;
    } else {
      while (since >= period) {
        since -= period;
        if (period > std::numeric_limits<std::int64_t>::max() / options_.times) break;
        period *= options_.times;
      }
    }
    const double height = (1 + std::cos(std::numbers::pi * double(since) / double(period))) / 2;
    return initial * (options_.end + (1 - options_.end) * height);
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_cosine_restarts(Registry<ScheduleEntry>& registry) {
  registry.add("cosine_restarts",
               ScheduleEntry::of<CosineRestarts>(
                   "cosine annealing with warm restarts, SGDR (Loshchilov and Hutter, 2017)"));
}

}  // namespace schedule
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct LinearOptions {
  double start = 1;
  double end = 0;
  std::int64_t length = 5;

  void declare(OptionList& options) {
    options.add("start", start, "start value as a share of the initial one");
    options.add("end", end, "final value as a share of the initial one");
    options.add("length", length, "time until the end", {.least = 1});
  }
};

/// initial * (start + (end - start) * t / length)
class Linear final : public Schedule {
 public:
  using Options = LinearOptions;
  explicit Linear(const Options& options) : options_(options) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const double gone = double(std::min(time, options_.length)) / double(options_.length);
    return initial * (options_.start + (options_.end - options_.start) * gone);
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_linear(Registry<ScheduleEntry>& registry) {
  registry.add("linear", ScheduleEntry::of<Linear>("linear decay or warmup between two factors"));
}

}  // namespace schedule
}  // namespace d5

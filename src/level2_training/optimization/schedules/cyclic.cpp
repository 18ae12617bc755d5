// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct CyclicOptions {
  enum class Mode { triangular, triangular2, exp_range } mode = Mode::triangular;
  double top = 10;
  std::int64_t up = 2000;
  std::int64_t down = 0;
  double factor = 1;

  void declare(OptionList& options) {
    options.add(
        "mode", mode,
        "height of cycles: constant, halved each cycle, or multiplied by factor each step or epoch",
        {"triangular", "triangular2", "exp_range"});
    options.add("top", top, "highest value as a multiple of the initial one");
    options.add("up", up, "time from the initial value to the top", {.least = 1});
    options.add("down", down, "time from the top back; 0: as long as up", {.least = 0});
    options.add("factor", factor, "decay factor of exp_range", {.least = 0});
  }
};

/// initial * (1 + (top - 1) * x * height), where x goes from 0 to 1 and back in each cycle, and
/// height is 1, 2^-cycle (from 0), or factor^t.
///
/// Source: Smith, "Cyclical Learning Rates for Training Neural Networks" (WACV 2017).
class Cyclic final : public Schedule {
 public:
  using Options = CyclicOptions;
  explicit Cyclic(const Options& options)
      : options_(options), down_(options.down == 0 ? options.up : options.down) {}

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const std::int64_t length = options_.up + down_, within = time % length;
    const double x = within <= options_.up ? double(within) / double(options_.up)
                                           : double(length - within) / double(down_);
    return initial * (1 + (options_.top - 1) * x * height(time, time / length));
  }

 private:
  [[nodiscard]] double height(std::int64_t time, std::int64_t cycle) const {
    switch (options_.mode) {
      case Options::Mode::triangular:
        return 1;
      case Options::Mode::triangular2:
        return std::pow(0.5, double(cycle));
      case Options::Mode::exp_range:
        return std::pow(options_.factor, double(time));
    }
    return 1;
  }

  Options options_;
  std::int64_t down_;
};

}  // namespace

namespace schedule {

void register_cyclic(Registry<ScheduleEntry>& registry) {
  registry.add("cyclic",
               ScheduleEntry::of<Cyclic>("cyclical learning rate, triangular (Smith, 2017)"));
}

}  // namespace schedule
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct OneCycleOptions {
  enum class Shape { cosine, linear } shape = Shape::cosine;
  std::int64_t length = 1000;
  double rising = 0.3;
  double start = 1.0 / 25;
  double end = 1.0 / 25 / 1e4;
  bool symmetric = false;

  void declare(OptionList& options) {
    options.add("length", length, "duration of the whole cycle", {.least = 2});
    options.add("rising", rising, "share of the duration until the top", {.above = 0, .below = 1});
    options.add("start", start, "start value as a share of the initial one, which is the top");
    options.add("end", end, "final value as a share of the initial one");
    options.add("shape", shape, "shape of each part", {"cosine", "linear"});
    options.add("symmetric", symmetric,
                "fall to the start value as long as the rise took, then to the end");
  }
};

/// Rises from start to 1, then falls to end, or first to start and then to end; the last time is
/// length - 1. The initial value is the top. A hyper-parameter that moves the other way, such as
/// momentum, has a start above 1.
///
/// Source: Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large
/// Learning Rates" (2017), with the corners and defaults of LibTorch's OneCycleLR.
class OneCycle final : public Schedule {
 public:
  using Options = OneCycleOptions;
  explicit OneCycle(const Options& options) : options_(options) {
    const double top = options.rising * double(options.length) - 1;
    const double last = double(options.length) - 1;
    if (!options.symmetric) {
      corners_ = {{0, options.start}, {top, 1}, {last, options.end}};
      return;
    }
    const double down = 2 * options.rising * double(options.length) - 2;
    corners_ = {{0, options.start}, {top, 1}, {down, options.start}, {last, options.end}};
    if (down < last) return;
    throw ValueError(
        fmt::format("schedule one_cycle: rising is {}, and falling takes as long: nothing is left "
                    "of {} for the end; expected below 0.5",
                    options.rising, options.length));
  }

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const double now = std::min(double(time), corners_.back().time);
    std::size_t to = 1;
    while (to + 1 < corners_.size() && now > corners_[to].time) ++to;
    const Corner &from = corners_[to - 1], &next = corners_[to];
    // The rise is too short to have a length.
    if (next.time <= from.time) return initial * next.share;
    return initial * between(from.share, next.share, (now - from.time) / (next.time - from.time));
  }

 private:
  struct Corner {
    double time, share;
  };
  [[nodiscard]] double between(double from, double to, double gone) const {
    if (options_.shape == Options::Shape::linear) return from + (to - from) * gone;
    return to + (from - to) * (1 + std::cos(std::numbers::pi * gone)) / 2;
  }

  Options options_;
  std::vector<Corner> corners_;
};

}  // namespace

namespace schedule {

void register_one_cycle(Registry<ScheduleEntry>& registry) {
  registry.add("one_cycle",
               ScheduleEntry::of<OneCycle>("1cycle policy: rises to the initial value, then falls "
                                           "far below (Smith and Topin, 2017)"));
}

}  // namespace schedule
}  // namespace d5

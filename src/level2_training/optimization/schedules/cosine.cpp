// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct CosineOptions {
  std::int64_t length = 0;
  double end = 0;

  void declare(OptionList& options) {
    options.add("length", length, "time until the end; has to be given", {.least = 0});
    options.add("end", end, "final value as a share of the initial one");
  }
};

/// initial * (end + (1 - end) * (1 + cos(pi t / length)) / 2)
///
/// Source: Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts" (ICLR
/// 2017), equation 5, without restarts.
class Cosine final : public Schedule {
 public:
  using Options = CosineOptions;
  explicit Cosine(const Options& options) : options_(options) {
    if (options.length == 0) throw ValueError("schedule cosine: give its length");
  }
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const double gone = double(std::min(time, options_.length)) / double(options_.length);
    const double height = (1 + std::cos(std::numbers::pi * gone)) / 2;
    return initial * (options_.end + (1 - options_.end) * height);
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_cosine(Registry<ScheduleEntry>& registry) {
  registry.add("cosine",
               ScheduleEntry::of<Cosine>("cosine annealing (Loshchilov and Hutter, 2017)"));
}

}  // namespace schedule
}  // namespace d5

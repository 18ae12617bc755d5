// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct PolynomialOptions {
  std::int64_t length = 5;
  double power = 1;
  double end = 0;

  void declare(OptionList& options) {
    options.add("length", length, "time until the end", {.least = 1});
    options.add("power", power, "exponent of the remaining share of the time", {.least = 0});
    options.add("end", end, "final value as a share of the initial one");
  }
};

/// initial * (end + (1 - end) * (1 - t / length)^power)
class Polynomial final : public Schedule {
 public:
  using Options = PolynomialOptions;
  explicit Polynomial(const Options& options) : options_(options) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const double rest =
        double(std::max(options_.length - time, std::int64_t{0})) / double(options_.length);
    return initial * (options_.end + (1 - options_.end) * std::pow(rest, options_.power));
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_polynomial(Registry<ScheduleEntry>& registry) {
  registry.add("polynomial", ScheduleEntry::of<Polynomial>("polynomial decay"));
}

}  // namespace schedule
}  // namespace d5

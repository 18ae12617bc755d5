// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct MultiplicativeOptions {
  std::vector<double> factors = {};

  void declare(OptionList& options) {
    options.add("factors", factors,
                "factors at times 1, 2, ...; the last one applies to all later times",
                {.least = 0});
  }
};

/// initial * f(1) * f(2) * ... * f(t)
class Multiplicative final : public Schedule {
 public:
  using Options = MultiplicativeOptions;
  explicit Multiplicative(const Options& options) {
    if (options.factors.empty()) {
      throw ValueError("schedule multiplicative: it has no factors; give some: factors=0.9,0.8");
    }
    last_ = options.factors.back();
    for (const double factor : options.factors) shares_.push_back(shares_.back() * factor);
  }
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const auto told = std::min(time, std::int64_t(shares_.size()) - 1);
    return initial * shares_[std::size_t(told)] * std::pow(last_, double(time - told));
  }

 private:
  std::vector<double> shares_{1};  ///< as shares of the initial value, by time
  double last_ = 1;
};

}  // namespace

namespace schedule {

void register_multiplicative(Registry<ScheduleEntry>& registry) {
  registry.add("multiplicative",
               ScheduleEntry::of<Multiplicative>("multiplicative decay: multiplies the value by "
                                                 "the next factor of a list each step or epoch"));
}

}  // namespace schedule
}  // namespace d5

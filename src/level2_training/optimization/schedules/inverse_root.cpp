// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct InverseRootOptions {
  std::int64_t warmup = 4000;

  void declare(OptionList& options) {
    options.add("warmup", warmup, "duration of the linear warmup to the initial value",
                {.least = 1});
  }
};

/// initial * min(n / warmup, sqrt(warmup / n)), n = t + 1: the initial number is the top.
///
/// Source: Vaswani et al., "Attention Is All You Need" (NeurIPS 2017), section 5.3, whose factor
/// model^-0.5 * warmup^-0.5 is the initial number.
class InverseRoot final : public Schedule {
 public:
  using Options = InverseRootOptions;
  explicit InverseRoot(const Options& options) : warmup_(double(options.warmup)) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const double n = double(time) + 1;
    return initial * std::min(n / warmup_, std::sqrt(warmup_ / n));
  }

 private:
  double warmup_;
};

}  // namespace

namespace schedule {

void register_inverse_root(Registry<ScheduleEntry>& registry) {
  registry.add("inverse_root",
               ScheduleEntry::of<InverseRoot>(
                   "linear warmup, then inverse square root decay (Vaswani et al., 2017)"));
}

}  // namespace schedule
}  // namespace d5

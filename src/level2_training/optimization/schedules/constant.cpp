// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct ConstantOptions {
  double factor = 1;
  std::int64_t length = 0;

  void declare(OptionList& options) {
    options.add("factor", factor, "factor on the initial value");
    options.add("length", length,
                "duration of the factor, followed by the initial value; 0: unlimited",
                {.least = 0});
  }
};

/// factor * initial for t < length, then initial.
class Constant final : public Schedule {
 public:
  using Options = ConstantOptions;
  explicit Constant(const Options& options) : options_(options) {}
  [[nodiscard]] double at(std::int64_t time, double initial) override {
    const bool within = options_.length == 0 || time < options_.length;
    return within ? options_.factor * initial : initial;
  }

 private:
  Options options_;
};

}  // namespace

namespace schedule {

void register_constant(Registry<ScheduleEntry>& registry) {
  registry.add("constant",
               ScheduleEntry::of<Constant>("constant factor, permanently or for a limited time"));
}

}  // namespace schedule
}  // namespace d5

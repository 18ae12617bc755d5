// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct ConstantOptions {
  double factor = 1;
  std::int64_t length = 0;

  void declare(OptionList& options) {
    options.add("factor", factor, "on the initial number");
    options.add("length", length, "so long; then the initial number alone; 0: for ever",
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
  registry.add("constant", ScheduleEntry::of<Constant>("times a factor, for ever or for a time"));
}

}  // namespace schedule
}  // namespace d5

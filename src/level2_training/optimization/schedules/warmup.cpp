// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/optimization/schedule.hpp"

namespace d5 {
namespace {

struct WarmupOptions {
  std::int64_t length = 5;
  double start = 0;
  EntryChoice then{"constant"};

  void declare(OptionList& options) {
    options.add("length", length, "duration of the warmup", {.least = 1});
    options.add("start", start, "start value as a share of the initial one");
    options.add("then", then, "schedule after the warmup; its time begins there", "schedule");
  }
};

/// initial * (start + (1 - start) * t / length), followed by another schedule from t = length on.
///
/// Source: Goyal et al., "Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour" (2017),
/// section 2.2.
class Warmup final : public Schedule {
 public:
  using Options = WarmupOptions;
  explicit Warmup(const Options& options)
      : options_(options), then_(schedules().at(options.then.name).make(options.then.settings)) {}

  [[nodiscard]] double at(std::int64_t time, double initial) override {
    rising_ = time < options_.length;
    if (!rising_) return then_->at(time - options_.length, initial);
    const double gone = double(time) / double(options_.length);
    return initial * (options_.start + (1 - options_.start) * gone);
  }
  [[nodiscard]] Observes observes() const override { return then_->observes(); }
  void observe(double loss) override {
    if (!rising_) then_->observe(loss);
  }
  [[nodiscard]] ValueMap state() const override {
    ValueMap state = then_->state();
    state["rising"] = Tensor::scalar(rising_);
    return state;
  }
  void restore(const ValueMap& state) override {
    then_->restore(state);
    rising_ = state_entry(state, "rising", "schedule warmup").item<bool>();
  }

 private:
  Options options_;
  std::shared_ptr<Schedule> then_;
  bool rising_ = true;
};

}  // namespace

namespace schedule {

void register_warmup(Registry<ScheduleEntry>& registry) {
  registry.add("warmup", ScheduleEntry::of<Warmup>(
                             "linear warmup, then another schedule (Goyal et al., 2017)"));
}

}  // namespace schedule
}  // namespace d5

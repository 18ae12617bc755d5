// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"
#include "level2_training/optimization/taken_options.hpp"

namespace d5 {

namespace {

struct TimeOptions {
  Schedule::Every every = Schedule::Every::step;

  void declare(OptionList& options) {
    options.add("every", every, "unit of a schedule's time", {"step", "epoch"});
  }
};

class ScheduledNumber final : public StepModifier {
  using Every = Schedule::Every;

 public:
  ScheduledNumber(std::string number, std::string word, std::shared_ptr<Schedule> schedule,
                  Every every)
      : number_(std::move(number)),
        word_(std::move(word)),
        schedule_(std::move(schedule)),
        every_(every) {}

  [[nodiscard]] std::string name() const override { return "schedule." + number_; }
  void attach(ThreeStepOptimizer& optimizer) override {
    (void)optimizer.hyper_parameters().at(number_);
  }

  void before_step(ThreeStepOptimizer& optimizer, const Batch& batch) override {
    const bool epochs = every_ == Every::epoch;
    const std::int64_t time = epochs ? batch.epoch : optimizer.steps();
    HyperParameters& numbers = optimizer.hyper_parameters();
    const double value = schedule_->at(time, numbers.initial(number_));
    if (!std::isfinite(value)) {
      throw NumericError(fmt::format("schedule {} of {} is {} in {} {}; look at its settings",
                                     word_, number_, value, epochs ? "epoch" : "step", time));
    }
    numbers.set(number_, value);
    last_ = {.time = time, .value = value, .initial = numbers.initial(number_)};
  }

  void after_step(ThreeStepOptimizer& optimizer, const Batch& batch,
                  const ValueMap& outputs) override {
    if (schedule_->observes() != Schedule::Observes::training_loss) return;
    const double mine = detail::scalar_loss(outputs, optimizer.loss());
    schedule_->observe(optimizer.loss_weight().join(optimizer.agreement(), mine, batch));
  }
  void tested(ThreeStepOptimizer&, double loss) override {
    if (schedule_->observes() == Schedule::Observes::test_loss) schedule_->observe(loss);
  }
  [[nodiscard]] std::string needs_tests() const override {
    if (schedule_->observes() != Schedule::Observes::test_loss) return {};
    return fmt::format("schedule {} of {}", word_, number_);
  }

  [[nodiscard]] ValueMap state() const override {
    ValueMap state = schedule_->state();
    if (state.empty() && last_) {
      state[kLast] = Tensor::vector(std::vector<double>{
          double(last_->time), last_->value, last_->initial, double(every_ == Every::epoch)});
    }
    return state;
  }
  /// Throws: FormatError if the schedule, a function of time alone, gives another value for the
  /// last time before the checkpoint.
  void restore(const ValueMap& state) override {
    const auto kept = state.find(kLast);
    if (kept == state.end()) return schedule_->restore(state);
    const auto numbers = kept->second.tensor().span<double>();
    last_ = {.time = std::int64_t(numbers[0]), .value = numbers[1], .initial = numbers[2]};
    if (schedule_->observes() != Schedule::Observes::nothing || !schedule_->state().empty()) return;
    const auto every = numbers[3] == 0 ? Every::step : Every::epoch;
    const double here = every == every_ ? schedule_->at(last_->time, last_->initial) : NAN;
    if (here == last_->value) return;
    const auto unit = [](Every one) { return one == Every::step ? "step" : "epoch"; };
    throw FormatError(
        fmt::format("schedule {} of {}: it was {} in {} {} before the checkpoint, {}; resume with "
                    "the schedule that it was begun with",
                    word_, number_, last_->value, unit(every), last_->time,
                    every == every_ ? fmt::format("here it is {}", here)
                                    : fmt::format("here its time counts {}s", unit(every_))));
  }

 private:
  static constexpr const char* kLast = "last";
  struct Last {
    std::int64_t time;
    double value, initial;
  };

  std::string number_, word_;
  std::shared_ptr<Schedule> schedule_;
  Every every_;
  std::optional<Last> last_;  ///< time and value of the last step
};

}  // namespace

std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                        const EntryChoice& schedule) {
  const ScheduleEntry& entry = schedules().at(schedule.name);
  Settings own = schedule.settings;
  const auto time = detail::take_options<TimeOptions>(own);
  return scheduled(hyper_parameter, entry.make(own), time.every, schedule.name);
}

std::shared_ptr<StepModifier> scheduled(const std::string& hyper_parameter,
                                        std::shared_ptr<Schedule> schedule, Schedule::Every every,
                                        const std::string& word) {
  return std::make_shared<ScheduledNumber>(hyper_parameter, word, std::move(schedule), every);
}

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "level2_training/training/classification.hpp"

namespace d5 {

TimeToAccuracy::TimeToAccuracy(double target, ClassificationNames names, Then then)
    : target_(target), then_(then), accuracy_(std::move(names)) {
  if (!(target > 0 && target <= 1)) {
    throw ValueError(
        fmt::format("time_to_accuracy: target is {}, expected above 0, 1 at most", target));
  }
}

double TimeToAccuracy::seconds() const { return before_ + (running_ ? now_seconds() - start_ : 0); }

void TimeToAccuracy::before_training(Trainer&) {
  start_ = now_seconds();
  running_ = true;
}

void TimeToAccuracy::after_test(Trainer& trainer) {
  accuracy_.after_test(trainer);
  if (accuracy_.samples().empty()) return;
  const double accuracy = accuracy_.samples().back();
  best_ = std::max(best_, accuracy);
  if (samples_.empty() && accuracy >= target_) samples_.push_back(seconds());
}

void TimeToAccuracy::summarise(Measurement& result) const {
  TrainingMetric::summarise(result);
  result.conditions["target"] = identity(target_);
  if (samples_.empty()) {
    result.status = Status::failed;
    result.reason = fmt::format("accuracy {} was not reached in {:.3g} s; the best was {}", target_,
                                seconds(), best_);
  }
}

ValueMap TimeToAccuracy::state() const {
  ValueMap state = TrainingMetric::state();
  state["seconds"] = Tensor::scalar(seconds());
  state["best"] = Tensor::scalar(best_);
  return state;
}

void TimeToAccuracy::restore(const ValueMap& state) {
  TrainingMetric::restore(state);
  before_ = state_entry(state, "seconds", "metric time_to_accuracy").item<double>();
  best_ = state_entry(state, "best", "metric time_to_accuracy").item<double>();
}

namespace training_metric {

void register_time_to_accuracy(Registry<MetricEntry>& registry) {
  struct Options {
    double target = 0.985;
    bool stop = false;
    ClassificationNames names = {};
    void declare(OptionList& options) {
      options.add("target", target, "test accuracy to reach", {.above = 0, .most = 1});
      options.add("stop", stop, "end training when it is reached");
      names.declare(options);
    }
  };
  registry.add("time_to_accuracy",
               MetricEntry::with<Options>("training time until a test run reaches an accuracy",
                                          [](const Options& options) {
                                            using enum TimeToAccuracy::Then;
                                            return std::make_shared<TimeToAccuracy>(
                                                options.target, options.names,
                                                options.stop ? stop : go_on);
                                          }));
}

}  // namespace training_metric
}  // namespace d5

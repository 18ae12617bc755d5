// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/level2_training/accuracy.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/trainer.hpp"
#include "level2_training/training/classification.hpp"

namespace d5 {

TrainingAccuracy::TrainingAccuracy(ClassificationNames names, std::int64_t every)
    : names_(std::move(names)), every_(every) {
  if (every < 0) {
    throw ValueError(
        fmt::format("training_accuracy: every {} steps was asked for; expected 0 or more", every));
  }
}

void TrainingAccuracy::after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
  const Tensor& labels = detail::named(batch.values, names_.label, "training_accuracy: field");
  right_ += count_right(detail::named(outputs, names_.logits, "training_accuracy: output"), labels);
  seen_ += labels.elements();
  if (every_ > 0 && trainer.step() % every_ == 0) take_sample();
}

void TrainingAccuracy::after_epoch(Trainer&, std::int64_t) {
  if (every_ == 0) take_sample();
}

void TrainingAccuracy::take_sample() {
  if (seen_ > 0) samples_.push_back(double(right_) / double(seen_));
  right_ = seen_ = 0;
}

ValueMap TrainingAccuracy::state() const {
  ValueMap state = TrainingMetric::state();
  state["right"] = Tensor::scalar(right_);
  state["seen"] = Tensor::scalar(seen_);
  return state;
}

void TrainingAccuracy::restore(const ValueMap& state) {
  TrainingMetric::restore(state);
  right_ = state_entry(state, "right", "metric training_accuracy").item<std::int64_t>();
  seen_ = state_entry(state, "seen", "metric training_accuracy").item<std::int64_t>();
}

namespace training_metric {

void register_training_accuracy(Registry<MetricEntry>& registry) {
  struct Options {
    std::int64_t every = 0;
    ClassificationNames names = {};
    void declare(OptionList& options) {
      options.add("every", every, "steps that a sample is taken over; 0: an epoch", {.least = 0});
      names.declare(options);
    }
  };
  registry.add("training_accuracy",
               MetricEntry::with<Options>("share of training samples classified right, an epoch",
                                          [](const Options& options) {
                                            return std::make_shared<TrainingAccuracy>(
                                                options.names, options.every);
                                          }));
}

}  // namespace training_metric
}  // namespace d5

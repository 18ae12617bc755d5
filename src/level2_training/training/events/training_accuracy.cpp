// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/classification.hpp"
#include "level2_training/training/even_batch.hpp"

namespace d5 {

TrainingAccuracy::TrainingAccuracy(ClassificationNames names, std::int64_t every)
    : names_(std::move(names)), every_(every) {
  if (every < 0) {
    throw ValueError(
        fmt::format("training_accuracy: every {} steps was asked for; expected 0 or more", every));
  }
}

void TrainingAccuracy::after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
  Optimizer& optimizer = trainer.optimizer();
  const auto counts =
      detail::count_targets(optimizer.loss_weight(), names_, batch, outputs, "training_accuracy");
  right_ += counts.right;
  seen_ += counts.seen;
  even_ = even_ && optimizer.loss_weight().kind() == LossWeight::Kind::samples &&
          names_.ignored == ClassificationNames::kAsLoss &&
          detail::is_even(batch, optimizer.agreement());
  if (every_ > 0 && trainer.step() % every_ == 0) take_sample(trainer);
}

void TrainingAccuracy::after_epoch(Trainer& trainer, std::int64_t) {
  if (every_ == 0) take_sample(trainer);
}

void TrainingAccuracy::after_training(Trainer& trainer) {
  join_parts(trainer.optimizer().agreement());
}

void TrainingAccuracy::take_sample(Trainer& trainer) {
  // Ranks have the same number of samples, but not of those that count.
  const bool is_one_of_several = !even_ && trainer.optimizer().agreement().ranks() > 1;
  if (seen_ > 0 || is_one_of_several) {
    take_part(double(right_) / double(seen_), double(seen_), even_);
  }
  right_ = seen_ = 0;
}

ValueMap TrainingAccuracy::state() const {
  ValueMap state = TrainingMetric::state();
  state["right"] = Tensor::scalar(right_);
  state["seen"] = Tensor::scalar(seen_);
  state["even"] = Tensor::scalar(std::int64_t(even_));
  return state;
}

void TrainingAccuracy::restore(const ValueMap& state) {
  TrainingMetric::restore(state);
  right_ = state_entry(state, "right", "metric training_accuracy").item<std::int64_t>();
  seen_ = state_entry(state, "seen", "metric training_accuracy").item<std::int64_t>();
  if (!state.contains("even")) return;
  even_ = state_entry(state, "even", "metric training_accuracy").item<std::int64_t>() != 0;
}

namespace training_metric {

void register_training_accuracy(Registry<MetricEntry>& registry) {
  struct Options {
    std::int64_t every = 0;
    ClassificationNames names = {};
    void declare(OptionList& options) {
      options.add("every", every, "interval in steps; 0: one epoch", {.least = 0});
      names.declare(options);
    }
  };
  registry.add(
      "training_accuracy",
      MetricEntry::with<Options>(
          "share of correctly classified training samples, per epoch", [](const Options& options) {
            return std::make_shared<TrainingAccuracy>(options.names, options.every);
          }));
}

}  // namespace training_metric
}  // namespace d5

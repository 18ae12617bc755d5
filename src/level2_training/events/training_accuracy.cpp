// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/accuracy.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "level2_training/classification.hpp"

namespace d5 {

void TrainingAccuracy::after_batch(Trainer&, const Batch& batch, const ValueMap& outputs) {
  right_ += count_right(detail::named(outputs, names_.logits, "training_accuracy: output"),
                        detail::named(batch.values, names_.label, "training_accuracy: field"));
  seen_ += batch.size;
}

void TrainingAccuracy::after_epoch(Trainer&, std::int64_t) {
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
  registry.add("training_accuracy", MetricEntry::with<ClassificationNames>(
                                        "share of training samples classified right, an epoch",
                                        [](const ClassificationNames& names) {
                                          return std::make_shared<TrainingAccuracy>(names);
                                        }));
}

}  // namespace training_metric
}  // namespace d5

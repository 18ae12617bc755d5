// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_time.hpp"

namespace d5 {

void EpochTime::before_epoch(Trainer&, std::int64_t) { spent_ = 0; }

void EpochTime::after_batch(Trainer& trainer, const Batch&, const ValueMap&) {
  const BatchTimes& times = trainer.batch_times();
  spent_ += times.waiting_seconds + times.step_seconds;
}

void EpochTime::after_epoch(Trainer&, std::int64_t) {
  samples_.push_back(spent_);
  spent_ = 0;
}

ValueMap EpochTime::state() const {
  ValueMap state = TrainingMetric::state();
  state["spent"] = Tensor::scalar(spent_);
  return state;
}

void EpochTime::restore(const ValueMap& state) {
  TrainingMetric::restore(state);
  spent_ = state_entry(state, "spent", "metric epoch_time").item<double>();
}

namespace training_metric {

void register_epoch_time(Registry<MetricEntry>& registry) {
  registry.add("epoch_time", MetricEntry::of<EpochTime>(
                                 "wall-clock time of an epoch: its steps, and waiting for data"));
}

}  // namespace training_metric
}  // namespace d5

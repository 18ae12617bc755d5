// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measurement.hpp"
#include "d5/level2_training/parameter_slots.hpp"
#include "d5/level2_training/training_time.hpp"

namespace d5 {

void EpochTime::before_training(Trainer&) { mark_ = now_seconds(); }

void EpochTime::before_epoch(Trainer&, std::int64_t) {
  spent_ = 0;
  mark_ = now_seconds();
}

void EpochTime::after_batch(Trainer&, const Batch&, const ValueMap&) {
  const double now = now_seconds();
  spent_ += now - mark_;
  mark_ = now;
}

void EpochTime::after_checkpoint(Trainer&, const std::string&) { mark_ = now_seconds(); }

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

void register_epoch_time(Registry<TrainingMetricEntry>& registry) {
  registry.add("epoch_time", {"wall-clock time of an epoch's training, data included",
                              [](const Settings&) { return std::make_shared<EpochTime>(); }});
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_time.hpp"

namespace d5 {

void BatchTime::after_batch(Trainer& trainer, const Batch&, const ValueMap&) {
  samples_.push_back(trainer.batch_times().step_seconds);
}

namespace training_metric {

void register_batch_time(Registry<MetricEntry>& registry) {
  registry.add("batch_time", MetricEntry::of<BatchTime>(
                                 "wall-clock time of a training step: forward, backward, update"));
}

}  // namespace training_metric
}  // namespace d5

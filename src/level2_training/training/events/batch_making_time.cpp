// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "d5/level2_training/training/trainer.hpp"

namespace d5 {

void BatchMakingTime::before_batch(Trainer& trainer, const Batch&) {
  samples_.push_back(trainer.batch_times().making_seconds);
}

namespace training_metric {

void register_batch_making_time(Registry<MetricEntry>& registry) {
  registry.add("batch_making_time",
               MetricEntry::of<BatchMakingTime>(
                   "wall-clock time to make a batch, whether or not a step waits for it"));
}

}  // namespace training_metric
}  // namespace d5

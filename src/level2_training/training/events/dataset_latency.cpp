// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "d5/level2_training/training/trainer.hpp"

namespace d5 {

void DatasetLatency::before_batch(Trainer& trainer, const Batch&) {
  samples_.push_back(trainer.batch_times().waiting_seconds);
}

namespace training_metric {

void register_dataset_latency(Registry<MetricEntry>& registry) {
  registry.add("dataset_latency", MetricEntry::of<DatasetLatency>(
                                      "wall-clock time that a training step waits for its batch"));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measurement.hpp"
#include "d5/level2_training/dataset_metrics.hpp"

namespace d5 {

void DatasetLatency::before_training(Trainer&) { mark_ = now_seconds(); }
void DatasetLatency::before_epoch(Trainer&, std::int64_t) { mark_ = now_seconds(); }
void DatasetLatency::before_batch(Trainer&, const Batch&) {
  samples_.push_back(now_seconds() - mark_);
}
void DatasetLatency::after_batch(Trainer&, const Batch&, const ValueMap&) { mark_ = now_seconds(); }
void DatasetLatency::after_checkpoint(Trainer&, const std::string&) { mark_ = now_seconds(); }

namespace training_metric {

void register_dataset_latency(Registry<TrainingMetricEntry>& registry) {
  registry.add("dataset_latency",
               {"wall-clock time that a step waits for its data",
                [](const Settings&) { return std::make_shared<DatasetLatency>(); }});
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measurement.hpp"
#include "d5/level2_training/training_time.hpp"

namespace d5 {

void BatchTime::before_batch(Trainer&, const Batch&) { begin_ = now_seconds(); }

void BatchTime::after_batch(Trainer&, const Batch&, const ValueMap&) {
  samples_.push_back(now_seconds() - begin_);
}

namespace training_metric {

void register_batch_time(Registry<TrainingMetricEntry>& registry) {
  registry.add("batch_time", {"wall-clock time of a step: forward, backward, update",
                              [](const Settings&) { return std::make_shared<BatchTime>(); }});
}

}  // namespace training_metric
}  // namespace d5

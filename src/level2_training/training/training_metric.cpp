// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training_metric.hpp"

#include "d5/core/measurement.hpp"
#include "d5/level2_training/parameter_slots.hpp"

namespace d5 {

void TrainingMetric::summarise(Measurement& result) const {
  result.samples = samples_;
  if (samples_.empty()) {
    result.status = Status::skipped;
    result.reason = "the run ended before there was anything to observe";
  }
  for (const auto& doubt : doubts_) mistrust(result, doubt);
}

ValueMap TrainingMetric::state() const { return {{"samples", Tensor::vector(samples_)}}; }

void TrainingMetric::restore(const ValueMap& state) {
  const auto values = state_entry(state, "samples", "metric " + name()).span<double>();
  samples_.assign(values.begin(), values.end());
}

}  // namespace d5

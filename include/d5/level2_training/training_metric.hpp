// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/metric.hpp"
#include "d5/level2_training/training_event.hpp"

namespace d5 {

/// A metric of a training run: it watches the run as an event, and what it saw is kept in
/// checkpoints, so that a resumed run reports as one that was never interrupted.
class TrainingMetric : public Metric, public TrainingEvent {
 public:
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  /// Skipped, with the reason, if nothing was observed.
  void summarise(Measurement& result) const override;

  /// What a checkpoint keeps; each overrider adds to its base's.
  [[nodiscard]] virtual ValueMap state() const;
  /// Throws: NotFound, TypeError for a state that is not this metric's.
  virtual void restore(const ValueMap& state);

 protected:
  std::vector<double> samples_;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level2_training/training/training_event.hpp"

namespace d5 {

/// The current training step of this thread, from 1; 0: no observed training.
[[nodiscard]] std::int64_t training_step();

/// Sets `training_step`, for messages and faults. A test run belongs to the step before it.
class TrainingStep final : public TrainingEvent {
 public:
  void before_batch(Trainer& trainer, const Batch& batch) override;
  void after_training(Trainer& trainer) override;
};

}  // namespace d5

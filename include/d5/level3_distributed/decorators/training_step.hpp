// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level2_training/training/training_event.hpp"

namespace d5 {

/// Which step of training this thread is at, from 1; 0: in none that is observed.
[[nodiscard]] std::int64_t training_step();

/// Makes `training_step` tell the step, for messages and faults. A run of tests belongs to the step
/// before it.
class TrainingStep final : public TrainingEvent {
 public:
  void before_batch(Trainer& trainer, const Batch& batch) override;
  void after_training(Trainer& trainer) override;
};

}  // namespace d5

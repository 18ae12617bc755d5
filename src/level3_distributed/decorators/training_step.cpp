// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/decorators/training_step.hpp"

#include "d5/level2_training/training/trainer.hpp"
#include "level3_distributed/decorators/step_of_thread.hpp"

namespace d5 {
namespace {

thread_local std::int64_t step_of_this_thread = 0;

}  // namespace

std::int64_t& detail::step_of_thread() { return step_of_this_thread; }

std::int64_t training_step() { return step_of_this_thread; }

void TrainingStep::before_batch(Trainer& trainer, const Batch&) {
  step_of_this_thread = trainer.step() + 1;
}

void TrainingStep::after_training(Trainer&) { step_of_this_thread = 0; }

}  // namespace d5

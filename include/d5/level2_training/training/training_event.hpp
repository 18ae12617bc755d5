// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "d5/core/tensor/value.hpp"
#include "d5/core/trace/event.hpp"
#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

class Trainer;

/// Hooks of a training run, on every rank, on the thread that trains.
class TrainingEvent : public virtual Event {
 public:
  /// Called before the first step: resolves the outputs and fields that its names mean, or refuses.
  /// A session calls it when it is made, and a run when it begins; a second call has no effect.
  /// Throws: NotFound with the existing names.
  virtual void resolve(Trainer& trainer) { (void)trainer; }
  virtual void before_training(Trainer& trainer) { (void)trainer; }
  virtual void after_training(Trainer& trainer) { (void)trainer; }
  /// Not called again for an epoch that is resumed in its middle.
  virtual void before_epoch(Trainer& trainer, std::int64_t epoch) { (void)trainer, (void)epoch; }
  /// Called after the epoch's last batch and test run.
  virtual void after_epoch(Trainer& trainer, std::int64_t epoch) { (void)trainer, (void)epoch; }
  virtual void before_batch(Trainer& trainer, const Batch& batch) { (void)trainer, (void)batch; }
  /// `outputs` are the network's, the loss among them.
  virtual void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
    (void)trainer, (void)batch, (void)outputs;
  }
  /// Before and after each test run.
  virtual void before_test(Trainer& trainer) { (void)trainer; }
  virtual void after_test(Trainer& trainer) { (void)trainer; }
  /// Called for each batch of a test run. Ranks may share the batches (`Sampler::take_batches`);
  /// results are then joined in `after_test` by `Optimizer::agreement`.
  virtual void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
    (void)trainer, (void)batch, (void)outputs;
  }
  /// Whether every rank must test all samples, because this observer cannot join the ranks'
  /// results. A session asks once, on every rank.
  [[nodiscard]] virtual bool wants_whole_tests() const { return false; }
  /// Called after a checkpoint was written.
  virtual void after_checkpoint(Trainer& trainer, const std::string& path) {
    (void)trainer, (void)path;
  }
  /// Asked after every batch and every epoch; true ends training. With several ranks it is asked
  /// after every epoch, and true on one rank ends training on all.
  [[nodiscard]] virtual bool wants_stop() const { return false; }
};

}  // namespace d5

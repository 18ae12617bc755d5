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
  /// Before the first step: finds the outputs and fields that its names mean, or refuses. Called
  /// when a session is made, and when a run begins; a second call changes nothing.
  /// Throws: NotFound with what there is.
  virtual void resolve(Trainer& trainer) { (void)trainer; }
  virtual void before_training(Trainer& trainer) { (void)trainer; }
  virtual void after_training(Trainer& trainer) { (void)trainer; }
  /// Not again for an epoch that is resumed in its middle.
  virtual void before_epoch(Trainer& trainer, std::int64_t epoch) { (void)trainer, (void)epoch; }
  /// After the last batch and the test run of the epoch.
  virtual void after_epoch(Trainer& trainer, std::int64_t epoch) { (void)trainer, (void)epoch; }
  virtual void before_batch(Trainer& trainer, const Batch& batch) { (void)trainer, (void)batch; }
  /// `outputs` are the network's, the loss among them.
  virtual void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
    (void)trainer, (void)batch, (void)outputs;
  }
  /// Around each test run.
  virtual void before_test(Trainer& trainer) { (void)trainer; }
  virtual void after_test(Trainer& trainer) { (void)trainer; }
  /// Each batch of the test run. Ranks may have a part of them each (`Sampler::take_batches`); what
  /// is made of them is joined in `after_test` by `Optimizer::agreement`.
  virtual void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) {
    (void)trainer, (void)batch, (void)outputs;
  }
  /// Whether every rank is to test all samples because of this observer, who cannot join what ranks
  /// have seen. A session asks once, on every rank.
  [[nodiscard]] virtual bool wants_whole_tests() const { return false; }
  /// After a checkpoint was written.
  virtual void after_checkpoint(Trainer& trainer, const std::string& path) {
    (void)trainer, (void)path;
  }
  /// Asked after every batch and every epoch; true ends training there. On several ranks asked
  /// after every epoch, and one rank's wish ends training on all.
  [[nodiscard]] virtual bool wants_stop() const { return false; }
};

}  // namespace d5

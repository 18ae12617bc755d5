// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {

/// Wall-clock time of each epoch's steps and of waiting for data, without test runs, checkpoints
/// and observers. An interrupted epoch counts the time of its parts up to the checkpoint.
class EpochTime final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "epoch_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;
  void before_epoch(Trainer& trainer, std::int64_t epoch) override;
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_epoch(Trainer& trainer, std::int64_t epoch) override;

 private:
  double spent_ = 0;
};

/// Wall-clock time of each step: forward, backward and update, without waiting for data.
class BatchTime final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "batch_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
};

}  // namespace d5

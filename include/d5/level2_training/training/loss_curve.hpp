// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {

/// Loss of every training batch before its update; joined over all ranks when the run has ended.
class LossCurve final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "loss"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::loss; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_training(Trainer& trainer) override;
};

}  // namespace d5

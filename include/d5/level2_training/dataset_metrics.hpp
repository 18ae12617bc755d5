// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level2_training/training_metric.hpp"

namespace d5 {

/// The share of each class among the training samples that were drawn, in the order of the classes:
/// one sample a class. A sampler that prefers some classes shows here.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 2 metrics.
class DatasetBias final : public TrainingMetric {
 public:
  explicit DatasetBias(std::string label = "label") : label_(std::move(label)) {}
  [[nodiscard]] std::string name() const override { return "dataset_bias"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Direction direction() const override { return Direction::neither; }
  void summarise(Measurement& result) const override;
  /// Throws: ValueError for a label below 0 or above 1e6.
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void count(const Batch& batch);

 private:
  std::string label_;
};

/// Wall-clock time that training waits for each batch's data.
class DatasetLatency final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "dataset_latency"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  void before_training(Trainer& trainer) override;
  void before_epoch(Trainer& trainer, std::int64_t epoch) override;
  void before_batch(Trainer& trainer, const Batch& batch) override;
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_checkpoint(Trainer& trainer, const std::string& path) override;

 private:
  double mark_ = 0;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {

/// Share of each class among the drawn training samples, in the order of the classes, one sample
/// per class. It reveals a sampler that prefers some classes; the largest share is the statistic.
///
/// Source: Ben-Nun et al., "A Modular Benchmarking Infrastructure for High-Performance and
/// Reproducible Deep Learning" (IPDPS 2019), level 2 metrics.
class DatasetBias final : public TrainingMetric {
 public:
  explicit DatasetBias(std::string label = "label") : label_(std::move(label)) {}
  [[nodiscard]] std::string name() const override { return "dataset_bias"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::share; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::maximum}; }
  [[nodiscard]] Direction direction() const override { return Direction::neither; }
  void summarise(Measurement& result) const override;
  void resolve(Trainer& trainer) override;
  /// Throws: ValueError for a label below 0 or above 1e6.
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void count(const Batch& batch);

 private:
  std::string label_;
};

/// Wall-clock time that training waits for each batch.
class DatasetLatency final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "dataset_latency"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void before_batch(Trainer& trainer, const Batch& batch) override;
};

/// Wall-clock time to make each batch. With prefetching threads it may exceed the time that
/// training waits; otherwise the two are the same.
class BatchMakingTime final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "batch_making_time"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void before_batch(Trainer& trainer, const Batch& batch) override;
};

}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "level3_distributed/graph/pipeline_executor.hpp"

namespace d5 {
namespace {

/// Pipeline bubble: the share of each step in which a stage waits for messages of others, the mean
/// over ranks. The condition "bubble" is the ideal value (k - 1) / (m + k - 1) for tasks of equal
/// length and free messages.
class PipelineBubble final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "pipeline_bubble"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::ratio; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }

  void before_batch(Trainer& trainer, const Batch&) override { waited_ = waited_by(trainer); }
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    if (waited_ < 0) return;
    samples_.push_back((waited_by(trainer) - waited_) / trainer.batch_times().step_seconds);
  }

 private:
  /// Negative if the executor is not a pipeline.
  static double waited_by(Trainer& trainer) {
    auto* pipeline = dynamic_cast<detail::PipelineExecutor*>(&trainer.optimizer().executor());
    return pipeline ? pipeline->waited_seconds() : -1;
  }

  double waited_ = -1;
};

}  // namespace

namespace distributed_metric {

void register_pipeline_bubble(Registry<MetricEntry>& registry) {
  registry.add("pipeline_bubble",
               MetricEntry::of<PipelineBubble>(
                   "share of a step in which a pipeline stage waits for others"));
}

}  // namespace distributed_metric
}  // namespace d5

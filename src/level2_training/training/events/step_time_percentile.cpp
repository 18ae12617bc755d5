// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace {

/// Quantile of the step time, including waiting for data: a share `quantile` of all steps is
/// faster.
class StepTimePercentile final : public TrainingMetric {
 public:
  StepTimePercentile(std::string name, double quantile)
      : name_(std::move(name)), quantile_(quantile) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] Statistic statistic() const override { return {.quantile = quantile_}; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    const BatchTimes& times = trainer.batch_times();
    samples_.push_back(times.waiting_seconds + times.step_seconds);
  }
  void summarise(Measurement& result) const override {
    TrainingMetric::summarise(result);
    const auto enough = std::size_t(1 / (1 - quantile_) + 0.5);  // one of them is slower
    if (samples_.empty() || samples_.size() >= enough) return;
    mistrust(result, fmt::format("{} steps, fewer than the {} that {} needs", samples_.size(),
                                 enough, to_string(statistic())));
  }

 private:
  std::string name_;
  double quantile_;
};

}  // namespace

namespace training_metric {

void register_step_time_percentile(Registry<MetricEntry>& registry) {
  const auto add = [&](const char* name, double quantile, const char* summary) {
    registry.add(name, MetricEntry(summary, [=] {
                   return std::make_shared<StepTimePercentile>(name, quantile);
                 }));
  };
  add("step_time_p50", 0.5, "median step time, including waiting for data");
  add("step_time_p90", 0.9, "90th percentile of the step time, from 10 steps on");
  add("step_time_p99", 0.99, "99th percentile of the step time, from 100 steps on");
}

}  // namespace training_metric
}  // namespace d5

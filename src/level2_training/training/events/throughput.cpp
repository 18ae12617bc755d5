// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace {

/// Training samples per second, over the steps of an epoch and their waits for data. Test runs,
/// checkpoints and observers are excluded. One sample per epoch.
class Throughput final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "throughput"; }
  [[nodiscard]] std::string unit() const override { return "sample/s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::rate; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::rate}; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::sum; }
  void before_epoch(Trainer&, std::int64_t) override { trained_ = 0, spent_ = 0; }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap&) override {
    const BatchTimes& times = trainer.batch_times();
    trained_ += batch.size;
    spent_ += times.waiting_seconds + times.step_seconds;
  }
  void after_epoch(Trainer& trainer, std::int64_t) override {
    const int same = trainer.optimizer().agreement().ranks_of_model();
    if (spent_ > 0) samples_.push_back(double(trained_) / spent_ / same);
    trained_ = 0, spent_ = 0;
  }
  [[nodiscard]] ValueMap state() const override {
    ValueMap state = TrainingMetric::state();
    state["trained"] = Tensor::scalar(trained_);
    state["spent"] = Tensor::scalar(spent_);
    return state;
  }
  void restore(const ValueMap& state) override {
    TrainingMetric::restore(state);
    trained_ = state_entry(state, "trained", "metric throughput").item<std::int64_t>();
    spent_ = state_entry(state, "spent", "metric throughput").item<double>();
  }

 private:
  std::int64_t trained_ = 0;
  double spent_ = 0;
};

}  // namespace

namespace training_metric {

void register_throughput(Registry<MetricEntry>& registry) {
  registry.add(
      "throughput",
      MetricEntry::of<Throughput>(
          "training throughput in samples per second, including waiting for data, per epoch"));
}

}  // namespace training_metric
}  // namespace d5

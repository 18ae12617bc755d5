// SPDX-License-Identifier: Apache-2.0
#include "core/machine/rapl.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {
namespace {

/// The energy of the processor packages in each epoch, including its test run and observers. An
/// interrupted epoch is the sum of its parts. Energy of other devices is not included.
class TrainingEnergy final : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "training_energy"; }
  [[nodiscard]] std::string unit() const override { return "J"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::energy; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  void before_training(Trainer&) override { last_ = counters_.joules(); }
  void before_epoch(Trainer&, std::int64_t) override { spent_ = 0, last_ = counters_.joules(); }
  /// Reads often enough for counters that wrap around to zero.
  void after_batch(Trainer&, const Batch&, const ValueMap&) override { count(); }
  void after_test_batch(Trainer&, const Batch&, const ValueMap&) override { count(); }
  void after_epoch(Trainer&, std::int64_t) override {
    count();
    if (counters_.absence().empty()) samples_.push_back(spent_);
    spent_ = 0;
  }
  void summarise(Measurement& result) const override {
    TrainingMetric::summarise(result);
    if (counters_.absence().empty()) return;
    result.status = Status::skipped;
    result.reason = counters_.absence();
  }
  [[nodiscard]] ValueMap state() const override {
    ValueMap state = TrainingMetric::state();
    state["spent"] = Tensor::scalar(spent_);
    return state;
  }
  void restore(const ValueMap& state) override {
    TrainingMetric::restore(state);
    spent_ = state_entry(state, "spent", "metric training_energy").item<double>();
  }

 private:
  void count() {
    const double now = counters_.joules();
    spent_ += now - last_;
    last_ = now;
  }

  detail::Rapl counters_;
  double spent_ = 0, last_ = 0;
};

}  // namespace

namespace training_metric {

void register_training_energy(Registry<MetricEntry>& registry) {
  registry.add("training_energy", MetricEntry::of<TrainingEnergy>(
                                      "energy of the processor packages per epoch (RAPL)"));
}

}  // namespace training_metric
}  // namespace d5

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/optimization/parameter_slots.hpp"
#include "d5/level2_training/training/accuracy.hpp"

namespace d5 {
namespace {

struct SamplesOptions {
  double target = 0.985;
  ClassificationNames names = {};

  void declare(OptionList& options) {
    options.add("target", target, "test accuracy to reach", {.above = 0, .most = 1});
    names.declare(options);
  }
};

/// The number of training samples, on all ranks together, until a test run first reaches an
/// accuracy; it does not depend on the machine's speed. Failed if no test run does.
class SamplesToAccuracy final : public TrainingMetric {
 public:
  using Options = SamplesOptions;
  explicit SamplesToAccuracy(const Options& options)
      : target_(options.target), accuracy_(options.names) {}
  [[nodiscard]] std::string name() const override { return "samples_to_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::count; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::single}; }
  void summarise(Measurement& result) const override {
    TrainingMetric::summarise(result);
    result.conditions["target"] = identity(target_);
    if (!samples_.empty()) return;
    result.status = Status::failed;
    result.reason = fmt::format("accuracy {} was not reached with {} samples; the best was {}",
                                target_, seen_, best_);
  }
  void resolve(Trainer& trainer) override { accuracy_.resolve_for(name(), trainer); }
  void after_batch(Trainer&, const Batch& batch, const ValueMap&) override {
    seen_ += batch.global_size > 0 ? batch.global_size : batch.size;
  }
  void before_test(Trainer& trainer) override { accuracy_.before_test(trainer); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    accuracy_.after_test_batch(trainer, batch, outputs);
  }
  void after_test(Trainer& trainer) override {
    accuracy_.after_test(trainer);
    if (accuracy_.samples().empty()) return;
    best_ = std::max(best_, accuracy_.samples().back());
    if (samples_.empty() && best_ >= target_) samples_.push_back(double(seen_));
  }
  [[nodiscard]] ValueMap state() const override {
    ValueMap state = TrainingMetric::state();
    state["seen"] = Tensor::scalar(seen_);
    state["best"] = Tensor::scalar(best_);
    return state;
  }
  void restore(const ValueMap& state) override {
    TrainingMetric::restore(state);
    seen_ = state_entry(state, "seen", "metric samples_to_accuracy").item<std::int64_t>();
    best_ = state_entry(state, "best", "metric samples_to_accuracy").item<double>();
  }

 private:
  double target_, best_ = 0;
  TestAccuracy accuracy_;
  std::int64_t seen_ = 0;
};

}  // namespace

namespace training_metric {

void register_samples_to_accuracy(Registry<MetricEntry>& registry) {
  registry.add("samples_to_accuracy",
               MetricEntry::of<SamplesToAccuracy>(
                   "training samples processed until a test run reaches an accuracy"));
}

}  // namespace training_metric
}  // namespace d5

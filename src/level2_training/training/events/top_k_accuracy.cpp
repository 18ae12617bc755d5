// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/classification.hpp"
#include "level2_training/training/test_mean.hpp"

namespace d5 {
namespace {

struct TopKOptions {
  std::int64_t k = 5;
  ClassificationNames names = {};

  void declare(OptionList& options) {
    options.add("k", k, "number of best classes among which the right one counts", {.least = 1});
    names.declare(options);
  }
};

/// The share of test samples whose class is among the k highest scores.
///
/// Source: Russakovsky et al., "ImageNet Large Scale Visual Recognition Challenge" (2015), top-5
/// error.
class TopKAccuracy final : public TrainingMetric {
 public:
  using Options = TopKOptions;
  explicit TopKAccuracy(Options options) : options_(std::move(options)) {}
  [[nodiscard]] std::string name() const override { return "top_k_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::accuracy; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  void summarise(Measurement& result) const override {
    TrainingMetric::summarise(result);
    result.conditions["k"] = identity(options_.k);
  }
  void resolve(Trainer& trainer) override {
    detail::expect_tests(trainer, "metric " + name());
    options_.names.resolve(trainer, name());
  }
  void before_test(Trainer&) override { mean_.begin(); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    const auto counts = detail::count_targets(trainer.optimizer().loss_weight(), options_.names,
                                              batch, outputs, "top_k_accuracy", options_.k);
    mean_.add_sum(double(counts.right), double(counts.seen));
  }
  void after_test(Trainer& trainer) override {
    mean_.join(trainer.optimizer().agreement());
    if (!mean_.empty()) samples_.push_back(mean_.value());
  }

 private:
  Options options_;
  detail::TestMean mean_;
};

}  // namespace

namespace training_metric {

void register_top_k_accuracy(Registry<MetricEntry>& registry) {
  registry.add("top_k_accuracy",
               MetricEntry::of<TopKAccuracy>("top-k accuracy of the test samples, per test run"));
}

}  // namespace training_metric
}  // namespace d5

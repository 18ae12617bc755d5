// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "level2_training/losses/parts/scalar_loss.hpp"
#include "level2_training/training/test_mean.hpp"

namespace d5 {
namespace {

/// Mean loss over everything that it counts in a test run, independent of batches (`LossWeight`).
class TestLoss : public TrainingMetric {
 public:
  [[nodiscard]] std::string name() const override { return "test_loss"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::loss; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  void resolve(Trainer& trainer) override { detail::expect_tests(trainer, "metric " + name()); }
  void before_test(Trainer&) override { mean_.begin(); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    Optimizer& optimizer = trainer.optimizer();
    mean_.add_loss(detail::scalar_loss(outputs, optimizer.loss()), optimizer.loss_weight(), batch);
  }
  void after_test(Trainer& trainer) override {
    mean_.join(trainer.optimizer().agreement());
    if (!mean_.empty()) samples_.push_back(mean_.value());
  }

 private:
  detail::TestMean mean_;
};

/// exp of the test loss. For a language model whose loss is the mean cross-entropy per token in
/// nats, it is the number of equally likely tokens with the same uncertainty. The mean over tokens
/// comes first.
///
/// Source: Jelinek, Mercer, Bahl and Baker, "Perplexity: a Measure of the Difficulty of Speech
/// Recognition Tasks" (1977).
class Perplexity final : public TestLoss {
 public:
  [[nodiscard]] std::string name() const override { return "perplexity"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::other; }
  void after_test(Trainer& trainer) override {
    const std::size_t before = samples_.size();
    TestLoss::after_test(trainer);
    if (samples_.size() > before) samples_.back() = std::exp(samples_.back());
  }
};

}  // namespace

namespace training_metric {

void register_test_loss(Registry<MetricEntry>& registry) {
  registry.add("test_loss",
               MetricEntry::of<TestLoss>("mean loss over the test samples, per test run"));
  registry.add("perplexity",
               MetricEntry::of<Perplexity>(
                   "perplexity: exp of the mean loss over the test samples, per test run"));
}

}  // namespace training_metric
}  // namespace d5

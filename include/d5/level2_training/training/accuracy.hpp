// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {

/// Names of the network's output with class scores, and of the field with the right class.
struct ClassificationNames {
  static constexpr auto kAsLoss = std::numeric_limits<std::int64_t>::min();

  std::string logits = "logits";
  std::string label = "label";
  std::int64_t ignored = kAsLoss;  ///< class of ignored targets; kAsLoss: the class that the loss
                                   ///< ignores
  void declare(OptionList& options);
  /// Finds the names in the training of `trainer`. If the usual names are missing: the only output
  /// besides the loss, and the only field of classes. `who` names the caller in errors.
  /// Throws: NotFound with the existing names; TypeError for a field that holds no classes.
  void resolve(Trainer& trainer, const std::string& who);
};

/// Number of rows of `scores` whose maximum is at their label. Among equal scores the first counts;
/// a row with a NaN is wrong. With `k` > 1 the label may be any of the k largest (top-k accuracy).
/// Rows of the class `ignored` are not counted.
/// Shapes: scores float32 or float64 NxC, labels int64 or int32 N; for sequences NxTxC and NxT.
[[nodiscard]] std::int64_t count_right(const Tensor& scores, const Tensor& labels,
                                       std::int64_t k = 1,
                                       std::optional<std::int64_t> ignored = {});

/// Share of correctly classified training samples, among those that count
/// (`ClassificationNames::ignored`), at the time of their training step. One sample per epoch, or
/// every `every` steps over the batches since the last; parameters change meanwhile. Joined over
/// all ranks when the run has ended.
class TrainingAccuracy final : public TrainingMetric {
 public:
  /// `every`: steps, across epochs; 0: one epoch. Throws: ValueError below 0.
  explicit TrainingAccuracy(ClassificationNames names = {}, std::int64_t every = 0);
  [[nodiscard]] std::string name() const override { return "training_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::accuracy; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;
  void resolve(Trainer& trainer) override { names_.resolve(trainer, name()); }
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_epoch(Trainer& trainer, std::int64_t epoch) override;
  void after_training(Trainer& trainer) override;

 private:
  void take_sample(Trainer& trainer);

  ClassificationNames names_;
  std::int64_t every_;
  std::int64_t right_ = 0, seen_ = 0;
  bool even_ = true;  // whether the same number of targets counted on each rank so far
};

/// Share of correctly classified test samples, among those that count
/// (`ClassificationNames::ignored`). One sample per test run.
class TestAccuracy : public TrainingMetric {
 public:
  explicit TestAccuracy(ClassificationNames names = {}) : names_(std::move(names)) {}
  [[nodiscard]] std::string name() const override { return "test_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "1"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::accuracy; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::mean; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::last}; }
  [[nodiscard]] Direction direction() const override { return Direction::higher_is_better; }
  void resolve(Trainer& trainer) override { resolve_for(name(), trainer); }
  /// For a metric that uses this one.
  void resolve_for(const std::string& who, Trainer& trainer);
  void before_test(Trainer& trainer) override;
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_test(Trainer& trainer) override;

 private:
  ClassificationNames names_;
  std::int64_t right_ = 0, seen_ = 0;
};

/// Training time, test runs included, until a test run first reaches an accuracy; failed if none
/// does. Time before an interruption counts, the interruption does not.
class TimeToAccuracy final : public TrainingMetric {
 public:
  /// `stop` ends training once the target is reached.
  enum class Then { go_on, stop };
  explicit TimeToAccuracy(double target, ClassificationNames names = {}, Then then = Then::go_on);
  [[nodiscard]] std::string name() const override { return "time_to_accuracy"; }
  [[nodiscard]] std::string unit() const override { return "s"; }
  [[nodiscard]] Quantity quantity() const override { return Quantity::time; }
  [[nodiscard]] OverRanks over_ranks() const override { return OverRanks::maximum; }
  [[nodiscard]] Statistic statistic() const override { return {.of = Statistic::Of::single}; }
  void summarise(Measurement& result) const override;
  [[nodiscard]] ValueMap state() const override;
  void restore(const ValueMap& state) override;
  void before_training(Trainer& trainer) override;
  void resolve(Trainer& trainer) override { accuracy_.resolve_for(name(), trainer); }
  void before_test(Trainer& trainer) override { accuracy_.before_test(trainer); }
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
    accuracy_.after_test_batch(trainer, batch, outputs);
  }
  void after_test(Trainer& trainer) override;
  [[nodiscard]] bool wants_stop() const override {
    return then_ == Then::stop && !samples_.empty();
  }

 private:
  [[nodiscard]] double seconds() const;
  double target_;
  Then then_;
  TestAccuracy accuracy_;
  double before_ = 0, start_ = 0, best_ = 0;
  bool running_ = false;
};

}  // namespace d5

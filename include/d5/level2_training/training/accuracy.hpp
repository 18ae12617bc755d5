// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "d5/level2_training/training/training_metric.hpp"

namespace d5 {

/// Which network output holds a score for each class, and which field the right class.
struct ClassificationNames {
  static constexpr auto kAsLoss = std::numeric_limits<std::int64_t>::min();

  std::string logits = "logits";
  std::string label = "label";
  std::int64_t ignored = kAsLoss;  ///< class of targets that count nothing; kAsLoss: the loss's own
  void declare(OptionList& options);
  /// Finds them in what `trainer` trains: the only output besides the loss, and the only field of
  /// classes, where the usual names are missing. `who` asks. Throws: NotFound with what there is;
  /// TypeError for a field that holds no classes.
  void resolve(Trainer& trainer, const std::string& who);
};

/// How many rows of `scores` are largest at their label; the first of equal scores counts, and a
/// row that holds a NaN is wrong. With `k` the label may be any of the k largest; rows of the class
/// `ignored` are not right.
/// Shapes: scores float32 or float64 NxC; labels int64 or int32 N; of sequences NxTxC and NxT.
[[nodiscard]] std::int64_t count_right(const Tensor& scores, const Tensor& labels,
                                       std::int64_t k = 1,
                                       std::optional<std::int64_t> ignored = {});

/// Share of the training samples that were classified right, as they were trained, over those that
/// count (`ClassificationNames::ignored`), of all ranks when the run has ended: one sample an
/// epoch, or every `every` steps, over the batches since the last while the parameters change.
class TrainingAccuracy final : public TrainingMetric {
 public:
  /// `every`: steps, across epochs; 0: an epoch. Throws: ValueError below 0.
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
  bool even_ = true;  // as many targets count on each rank, so far
};

/// Share of the test samples that are classified right, over those that count
/// (`ClassificationNames::ignored`): one sample a test run.
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
  /// For a metric that reads this one.
  void resolve_for(const std::string& who, Trainer& trainer) { names_.resolve(trainer, who); }
  void before_test(Trainer& trainer) override;
  void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_test(Trainer& trainer) override;

 private:
  ClassificationNames names_;
  std::int64_t right_ = 0, seen_ = 0;
};

/// Seconds of training, test runs included, until a test run first reaches an accuracy; failed if
/// none does. Time before an interruption counts, the interruption does not.
class TimeToAccuracy final : public TrainingMetric {
 public:
  /// With `stop` training ends there.
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

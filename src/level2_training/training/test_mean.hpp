// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/loss_weight.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"
#include "d5/level2_training/training/trainer.hpp"

namespace d5::detail {

/// Throws: ValueError, if the trainer makes no test runs for `who`, "metric test_loss".
inline void expect_tests(Trainer& trainer, const std::string& who) {
  if (trainer.test_sampler() != nullptr) return;
  throw ValueError(fmt::format(
      "{}: there are no test data, so it would have no sample; give the data set a test part, or "
      "the trainer a sampler of one",
      who));
}

/// The same for a part of the optimizer that needs them.
inline void expect_tests(Trainer& trainer) {
  if (const std::string who = trainer.optimizer().needs_tests(); !who.empty()) {
    expect_tests(trainer, who);
  }
}

/// Mean of a number over a test run, combined from means or sums over batches. Sums of integers are
/// exact, whatever the batches and ranks.
class TestMean {
 public:
  void begin() { sum_ = 0, weight_ = 0; }
  /// Adds a batch's loss by its weight; for a loss that is a sum, the mean over its samples.
  void add_loss(double loss, LossWeight& weight, const Batch& batch) {
    const double of = weight.of(batch);
    if (of != 0) add_sum(weight.kind() == LossWeight::Kind::sum ? loss : loss * of, of);
  }
  void add_sum(double sum, double weight) {
    sum_ += sum;
    weight_ += weight;
  }
  /// Joins the results of other ranks in this test run; called once.
  void join(RankAgreement& ranks) {
    std::array both{sum_, weight_};
    ranks.sum(both);
    sum_ = both[0];
    weight_ = both[1];
  }
  [[nodiscard]] bool empty() const { return weight_ == 0; }
  [[nodiscard]] double value() const { return sum_ / weight_; }
  [[nodiscard]] double weight() const { return weight_; }

 private:
  double sum_ = 0, weight_ = 0;
};

}  // namespace d5::detail

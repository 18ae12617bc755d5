// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/measuring/metric.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"
#include "d5/level2_training/training/training_event.hpp"

namespace d5 {

/// A metric of a training run, which observes it as an event. Its state is saved in checkpoints, so
/// that a resumed run reports the same as an uninterrupted one; so are reasons to mistrust its
/// samples.
class TrainingMetric : public Metric, public TrainingEvent {
 public:
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  /// Skipped, with the reason, if nothing was observed; mistrusted if there are doubts, or samples
  /// that are NaN or infinite. Overriders must call it.
  void summarise(Measurement& result) const override;

  /// State for checkpoints; overriders add to their base's.
  [[nodiscard]] virtual ValueMap state() const;
  /// Throws: NotFound, TypeError for the state of another metric.
  virtual void restore(const ValueMap& state);

  /// Reasons to mistrust samples that were not taken in this run, such as those of a checkpoint.
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  void doubt(std::string reason) { doubts_.push_back(std::move(reason)); }

 protected:
  /// Adds this rank's part of a sample, with its `weight`. `alike`: whether all ranks' parts weigh
  /// the same; all ranks must pass the same value.
  void take_part(double value, double weight, bool alike);
  /// Joins the parts of all ranks, once, when the run has ended: weighted means, or sums. A
  /// collective if weights differ.
  enum class Parts { mean, sum };
  void join_parts(RankAgreement& ranks, Parts how = Parts::mean);

  std::vector<double> samples_;

 private:
  std::vector<std::string> doubts_;
  std::vector<double> weights_;  // weights of the samples that are parts
  bool alike_ = true;
  std::int64_t joined_ = 0;  // number of samples that are joined over all ranks
};

}  // namespace d5

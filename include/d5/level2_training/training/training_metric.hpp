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

/// A metric of a training run: it watches the run as an event, and what it saw is kept in
/// checkpoints, so that a resumed run reports as one that was never interrupted. Reasons to
/// mistrust its samples are kept with them.
class TrainingMetric : public Metric, public TrainingEvent {
 public:
  [[nodiscard]] const std::vector<double>& samples() const { return samples_; }
  /// Skipped, with the reason, if nothing was observed; mistrusted if there were doubts. Called by
  /// each overrider.
  void summarise(Measurement& result) const override;

  /// What a checkpoint keeps; each overrider adds to its base's.
  [[nodiscard]] virtual ValueMap state() const;
  /// Throws: NotFound, TypeError for a state that is not this metric's.
  virtual void restore(const ValueMap& state);

  /// Of samples that were not taken now, such as those of a checkpoint.
  [[nodiscard]] const std::vector<std::string>& doubts() const { return doubts_; }
  void doubt(std::string reason) { doubts_.push_back(std::move(reason)); }

 protected:
  /// A sample of which this rank has a part that counts `weight`; `alike`: as much as that of each
  /// other rank, which is the same answer on all of them.
  void take_part(double value, double weight, bool alike);
  /// Makes samples of parts those of all ranks, once, when the run has ended: means by their
  /// weights, or sums. A collective where parts do not count alike.
  enum class Parts { mean, sum };
  void join_parts(RankAgreement& ranks, Parts how = Parts::mean);

  std::vector<double> samples_;

 private:
  std::vector<std::string> doubts_;
  std::vector<double> weights_;  // of the samples that are parts
  bool alike_ = true;
  std::int64_t joined_ = 0;  // samples that are those of all ranks
};

}  // namespace d5

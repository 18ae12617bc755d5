// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// What ranks that train together answer as one: the same bits on each. This one is of a rank
/// alone.
///
/// Every question is a collective: all ranks ask the same ones in the same order.
///
///     const double loss = optimizer.agreement().mean(my_loss, my_samples);
class RankAgreement {
 public:
  virtual ~RankAgreement() = default;
  [[nodiscard]] virtual int ranks() const { return 1; }
  /// How many of them hold one model together, and have the same samples.
  [[nodiscard]] virtual int ranks_of_model() const { return 1; }
  /// How much this rank's gradient of a parameter counts in a sum over all ranks: 1 / n where n of
  /// them have the same one. Asked where ranks hold shares (`GradientSource::in_shares`).
  [[nodiscard]] virtual double share_of(std::size_t parameter) const {
    (void)parameter;
    return 1;
  }

  /// Over all ranks, element by element, in place. Whole numbers are exact up to 2^53.
  void sum(std::span<double> values);
  [[nodiscard]] double sum(double mine);
  /// Of each rank's mean over what weighs so much; one that weighs nothing does not count. Not a
  /// number where nothing weighs anything. Of a rank alone it is `mine`, to the bit.
  [[nodiscard]] double mean(double mine, double weight);
  /// By the samples that each rank has in `batch`.
  [[nodiscard]] double mean(double mine, const Batch& batch);
  /// Whether any rank wishes it.
  [[nodiscard]] bool any(bool mine);
  /// Whether nobody waits for this rank, not even a server: it may stop wherever it is.
  [[nodiscard]] virtual bool is_alone() const { return true; }
  /// Whether the run ends here, for all ranks, because one of them `wishes` it. No collective:
  /// where nobody wishes, nobody waits. Asked after each batch of training, by all ranks alike.
  [[nodiscard]] virtual bool end_together(bool wishes) { return wishes; }

 private:
  /// Called where there are several ranks.
  virtual void do_sum(std::span<double> values) { (void)values; }
};

}  // namespace d5

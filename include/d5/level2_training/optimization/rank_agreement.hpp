// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "d5/level2_training/data/sampler.hpp"

namespace d5 {

/// Agreement of the ranks of a training: reductions with the same bits on each rank. This class is
/// for a single rank.
///
/// Every call is a collective: all ranks make the same calls in the same order.
///
///     const double loss = optimizer.agreement().mean(my_loss, my_samples);
class RankAgreement {
 public:
  virtual ~RankAgreement() = default;
  [[nodiscard]] virtual int ranks() const { return 1; }
  /// Number of ranks that hold one model together, and get the same samples.
  [[nodiscard]] virtual int ranks_of_model() const { return 1; }
  /// Weight of this rank's gradient of a parameter in a sum over all ranks: 1 / n if n ranks have
  /// the same gradient. Used if ranks hold shares (`GradientSource::in_shares`).
  [[nodiscard]] virtual double share_of(std::size_t parameter) const {
    (void)parameter;
    return 1;
  }

  /// Sums over all ranks, element by element, in place. Integers are exact up to 2^53.
  void sum(std::span<double> values);
  [[nodiscard]] double sum(double mine);
  /// Weighted mean over the ranks; a rank of weight 0 does not count. NaN if all weights are 0. On
  /// a single rank it is `mine`, bit for bit.
  [[nodiscard]] double mean(double mine, double weight);
  /// Mean weighted by each rank's samples in `batch`.
  [[nodiscard]] double mean(double mine, const Batch& batch);
  /// Whether `mine` is true on any rank.
  [[nodiscard]] bool any(bool mine);
  /// Whether no other rank or server waits for this rank, so that it may stop anywhere.
  [[nodiscard]] virtual bool is_alone() const { return true; }
  /// Whether the run ends here on all ranks, because one of them `wishes` it. Not a collective:
  /// without a wish no rank waits. Called after each training batch, on all ranks.
  [[nodiscard]] virtual bool end_together(bool wishes) { return wishes; }

 private:
  /// Called if there are several ranks.
  virtual void do_sum(std::span<double> values) { (void)values; }
};

}  // namespace d5

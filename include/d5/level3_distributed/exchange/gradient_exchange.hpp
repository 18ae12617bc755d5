// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/exchange/gradient_bucket.hpp"

namespace d5 {

class ThreeStepOptimizer;

/// The current training step, as an exchange sees it.
struct ExchangeStep {
  std::int64_t number = 0;  ///< the same on every rank
  /// Weight of this rank's gradients in the sum: its share of the samples, or 1 if they are already
  /// multiplied by it.
  double weight = 1;
  /// Whether all gradients are needed, not only those of `own`: to clip by their global norm.
  bool all = false;
};

/// Combines the gradients of all ranks, bucket by bucket, during backpropagation. There is one
/// object per rank; all ranks start the same buckets in the same order.
///
/// Local arithmetic goes through the communicator (`scale_local`, `reduce_local`).
class GradientExchange {
 public:
  explicit GradientExchange(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}
  virtual ~GradientExchange() = default;

  /// Called once, before anything else, with the optimizer whose gradients are exchanged; it
  /// outlives this object.
  /// Throws: Unsupported for an optimizer that this exchange cannot work with.
  virtual void attach(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// Called before the first step, and again after the network's memory is laid out again.
  virtual void lay_out(Network& network, const std::vector<GradientBucket>& buckets) {
    (void)network, (void)buckets;
  }
  /// Starts the exchange of a bucket whose gradients are final on this rank. When the request is
  /// done, `bucket.data` holds the sum over ranks of weight times gradient, or its approximation,
  /// with the same bits on every rank (only within `own`, if that is less than the bucket).
  [[nodiscard]] virtual std::unique_ptr<Request> start(const GradientBucket& bucket,
                                                       const ExchangeStep& step) = 0;
  /// The parameters of a bucket that this rank updates.
  [[nodiscard]] virtual ParameterRange own(const GradientBucket& bucket) const {
    return {bucket.begin, bucket.end};
  }
  /// Starts to distribute the parameter values of a bucket if ranks update only their `own`. Called
  /// after each change of the values, on all ranks in the order of buckets.
  virtual void start_values(std::size_t bucket) { (void)bucket; }
  /// Waits for all buckets of `start_values`.
  virtual void finish_values() {}
  /// State for this rank's checkpoint, such as gradients not sent yet.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, ShapeError.
  virtual void restore(const ValueMap& state) { (void)state; }

 protected:
  [[nodiscard]] Communicator& ranks() const { return *ranks_; }
  [[nodiscard]] const std::shared_ptr<Communicator>& shared_ranks() const { return ranks_; }

 private:
  std::shared_ptr<Communicator> ranks_;
};

/// `all_reduce` is the algorithm for dense sums.
using GradientExchangeEntry = Entry<std::shared_ptr<GradientExchange>(
    std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce)>;
/// All exchanges by name; src/level3_distributed/exchange/exchanges holds the built-in ones.
[[nodiscard]] Registry<GradientExchangeEntry>& gradient_exchanges();

}  // namespace d5

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

/// What an exchange is told of the step that it is in.
struct ExchangeStep {
  std::int64_t number = 0;  ///< the same on every rank
  /// What this rank's gradients count in the sum: its share of the samples, or 1 where they have
  /// been multiplied by it already.
  double weight = 1;
  /// Whether all gradients are read, not those of `own` alone: to clip them by their common norm.
  bool all = false;
};

/// How the gradients of each rank's samples become those of all, bucket by bucket, while
/// backpropagation goes on. One object a rank; all ranks ask for the same buckets in the same
/// order.
///
/// Arithmetic goes through the communicator (`scale_local`, `reduce_local`).
class GradientExchange {
 public:
  explicit GradientExchange(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}
  virtual ~GradientExchange() = default;

  /// Called once, before anything else: whose gradients they are. It outlives this.
  /// Throws: Unsupported for an optimizer that this does not go with.
  virtual void attach(ThreeStepOptimizer& optimizer) { (void)optimizer; }
  /// Called before the first step, and again where the network's memory was laid out anew.
  virtual void lay_out(Network& network, const std::vector<GradientBucket>& buckets) {
    (void)network, (void)buckets;
  }
  /// A bucket whose gradients are final on this rank; under way when it returns. When the request
  /// is done, `bucket.data` holds the sum over ranks of weight times gradient, or what stands for
  /// it, the same bits on every rank (in `own`, where this is less than the bucket).
  [[nodiscard]] virtual std::unique_ptr<Request> start(const GradientBucket& bucket,
                                                       const ExchangeStep& step) = 0;
  /// The parameters of a bucket that this rank updates.
  [[nodiscard]] virtual ParameterRange own(const GradientBucket& bucket) const {
    return {bucket.begin, bucket.end};
  }
  /// Where `own` is less than all: begins to make known the values of a bucket, those that other
  /// ranks update. Called after whatever changes them, on all ranks in the order of buckets.
  virtual void start_values(std::size_t bucket) { (void)bucket; }
  /// Waits for all that were started.
  virtual void finish_values() {}
  /// What a checkpoint of this rank keeps, such as what was not sent yet.
  [[nodiscard]] virtual ValueMap state() const { return {}; }
  /// Throws: NotFound, ShapeError.
  virtual void restore(const ValueMap& state) { (void)state; }

 protected:
  [[nodiscard]] Communicator& ranks() const { return *ranks_; }
  [[nodiscard]] const std::shared_ptr<Communicator>& shared_ranks() const { return ranks_; }

 private:
  std::shared_ptr<Communicator> ranks_;
};

/// `all_reduce` sums what an exchange sums densely.
using GradientExchangeEntry = Entry<std::shared_ptr<GradientExchange>(
    std::shared_ptr<Communicator> ranks, std::shared_ptr<AllReduce> all_reduce)>;
/// All by name; src/level3_distributed/exchange/exchanges holds the built-in ones.
[[nodiscard]] Registry<GradientExchangeEntry>& gradient_exchanges();

}  // namespace d5

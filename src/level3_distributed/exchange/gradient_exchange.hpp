// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/level1_network/execution_event.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "level3_distributed/exchange/gradient_buckets.hpp"

namespace d5::detail {

/// Sums gradients over the ranks while backpropagation goes on: a bucket is on its way as soon as
/// its last gradient is final. Buckets start in the same order on all ranks.
class GradientExchange final : public ExecutionEvent {
 public:
  /// `bucket_bytes` is the least size of a bucket.
  GradientExchange(Communicator& communicator, std::shared_ptr<AllReduce> all_reduce,
                   std::size_t bucket_bytes);

  /// Before backpropagation. Each gradient is multiplied by `weight` before it is sent.
  void begin(Network& network, double weight);
  void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) override;
  /// After backpropagation: starts what nothing announced, because the loss does not depend on it.
  void start_rest();
  /// Waits for bucket `i`: its gradients are then the weighted sums, the same bits on every rank.
  const GradientBucket& finish(std::size_t i);
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  void lay_out(Network& network);
  void start_next();

  Communicator& communicator_;
  std::shared_ptr<AllReduce> all_reduce_;
  std::size_t bucket_bytes_;
  double weight_ = 1;
  bool active_ = false;  // a run that is no step of training is none of our business

  std::uint64_t revision_ = ~std::uint64_t{0};
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<std::size_t> missing_;    // by bucket: gradients that are not final yet
  std::size_t started_ = 0;             // buckets
  std::vector<std::unique_ptr<Request>> requests_;
};

}  // namespace d5::detail

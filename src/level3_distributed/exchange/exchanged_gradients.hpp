// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"

namespace d5::detail {

/// Gradients of all ranks' samples: the sum of each rank's gradients, weighted by its share of the
/// loss, computed during backpropagation. The exchange of a bucket starts as soon as its last
/// gradient is final. All ranks run equally often and start buckets in the same order.
class ExchangedGradients final : public GradientDecorator, public ExecutionEvent {
 public:
  ExchangedGradients(std::shared_ptr<GradientSource> inner, std::shared_ptr<Communicator> ranks,
                     std::shared_ptr<GradientExchange> exchange, const BucketSizes& sizes);
  ~ExchangedGradients() override;
  ExchangedGradients(const ExchangedGradients&) = delete;
  ExchangedGradients& operator=(const ExchangedGradients&) = delete;

  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return buckets_.size(); }
  /// The parameters that this rank updates by a bucket.
  ParameterRange finish(std::size_t bucket) override;
  /// The parameters that this rank updates, for all buckets, before a run.
  [[nodiscard]] std::vector<ParameterRange> own();
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool in_shares() override;
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  [[nodiscard]] bool counted() override { return true; }

  void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) override;

 private:
  /// Cuts the network's gradients into buckets if its memory is new.
  void lay_out();
  void begin(double weight, bool all);
  void start_next();

  CommunicatorAgreement ranks_;
  std::shared_ptr<GradientExchange> exchange_;
  BucketSizes sizes_;
  std::uint64_t revision_ = ~std::uint64_t{0};
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::optional<bool> in_shares_;       // cached property of the exchange

  // State of the current run.
  ExchangeStep step_ = {.number = -1};
  bool active_ = false;                             // only in training steps
  std::vector<std::size_t> missing_;                // by bucket: number of gradients not final yet
  std::vector<std::unique_ptr<Request>> requests_;  // one for each started bucket
};

}  // namespace d5::detail

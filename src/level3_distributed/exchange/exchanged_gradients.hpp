// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level2_training/optimization/gradient_source.hpp"
#include "d5/level3_distributed/communicator/communicator_agreement.hpp"
#include "d5/level3_distributed/exchange/gradient_exchange.hpp"

namespace d5::detail {

/// Runs an exchange while backpropagation goes on: a bucket is on its way as soon as its last
/// gradient is final. Buckets start in the same order on all ranks.
class OverlappedExchange final : public ExecutionEvent {
 public:
  OverlappedExchange(std::shared_ptr<GradientExchange> exchange, const BucketSizes& sizes)
      : exchange_(std::move(exchange)), sizes_(sizes) {}

  /// Before backpropagation; `weight` and `all` as in `ExchangeStep`.
  void begin(Network& network, double weight, bool all);
  void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) override;
  /// After backpropagation: starts what nothing announced, because the loss does not depend on it.
  void start_rest();
  /// Waits for bucket `i`: the parameters that this rank updates by it.
  ParameterRange finish(std::size_t i);
  [[nodiscard]] std::size_t buckets() const { return buckets_.size(); }

 private:
  void lay_out(Network& network);
  void start_next();

  std::shared_ptr<GradientExchange> exchange_;
  BucketSizes sizes_;
  ExchangeStep step_ = {.number = -1};
  bool active_ = false;  // a run that is no step of training is none of our business

  std::uint64_t revision_ = ~std::uint64_t{0};
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::vector<std::size_t> missing_;    // by bucket: gradients that are not final yet
  std::size_t started_ = 0;             // buckets
  std::vector<std::unique_ptr<Request>> requests_;
};

/// Gradients of all ranks' samples: each rank's, by its share of what the loss counts in them,
/// summed while backpropagation goes on. All ranks run equally often.
class ExchangedGradients final : public GradientDecorator {
 public:
  ExchangedGradients(std::shared_ptr<GradientSource> inner, std::shared_ptr<Communicator> ranks,
                     std::shared_ptr<GradientExchange> exchange, const BucketSizes& sizes);
  ~ExchangedGradients() override;
  ExchangedGradients(const ExchangedGradients&) = delete;
  ExchangedGradients& operator=(const ExchangedGradients&) = delete;

  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return exchange_->buckets(); }
  ParameterRange finish(std::size_t part) override;
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool in_shares() override;
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  [[nodiscard]] bool counted() override { return true; }

 private:
  CommunicatorAgreement ranks_;
  std::shared_ptr<OverlappedExchange> exchange_;
  std::size_t finished_ = 0;       // parameters of the last run
  std::optional<bool> in_shares_;  // the exchange's nature, when it was asked for
};

}  // namespace d5::detail

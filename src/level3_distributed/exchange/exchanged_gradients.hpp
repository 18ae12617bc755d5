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

/// Gradients of all ranks' samples: each rank's, by its share of what the loss counts in them,
/// summed while backpropagation goes on. A bucket is on its way as soon as its last gradient is
/// final. All ranks run equally often, and start buckets in the same order.
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
  /// The same of all buckets, before a run.
  [[nodiscard]] std::vector<ParameterRange> own();
  [[nodiscard]] bool announces() const override { return false; }
  [[nodiscard]] bool in_shares() override;
  double loss_of(const Batch& batch) override;
  [[nodiscard]] double loss_of_run(const ValueMap& outputs, const Batch& batch) override;
  [[nodiscard]] bool counted() override { return true; }

  void gradient_ready(Parameter& parameter, std::size_t index, Stream& stream) override;

 private:
  /// Cuts the network's gradients into buckets, where its memory is new.
  void lay_out();
  void begin(double weight, bool all);
  void start_next();

  CommunicatorAgreement ranks_;
  std::shared_ptr<GradientExchange> exchange_;
  BucketSizes sizes_;
  std::uint64_t revision_ = ~std::uint64_t{0};
  std::vector<GradientBucket> buckets_;
  std::vector<std::size_t> bucket_of_;  // by parameter
  std::optional<bool> in_shares_;       // the exchange's nature, when it was asked for

  // The run under way.
  ExchangeStep step_ = {.number = -1};
  bool active_ = false;                             // not in runs that are no step of training
  std::vector<std::size_t> missing_;                // by bucket: gradients that are not final yet
  std::vector<std::unique_ptr<Request>> requests_;  // of the buckets that were started
};

}  // namespace d5::detail

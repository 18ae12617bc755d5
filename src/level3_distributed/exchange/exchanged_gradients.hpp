// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "d5/level2_training/gradient_source.hpp"
#include "d5/level3_distributed/communicator_agreement.hpp"
#include "level3_distributed/exchange/overlapped_exchange.hpp"

namespace d5::detail {

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

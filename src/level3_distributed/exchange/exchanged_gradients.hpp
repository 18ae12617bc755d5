// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "d5/level2_training/gradient_source.hpp"
#include "level3_distributed/exchange/overlapped_exchange.hpp"

namespace d5::detail {

/// Gradients of all ranks' samples: each rank's, by its share of them, summed while backpropagation
/// goes on. All ranks run equally often.
class ExchangedGradients final : public GradientDecorator {
 public:
  ExchangedGradients(std::shared_ptr<GradientSource> inner, std::shared_ptr<Communicator> ranks,
                     std::shared_ptr<GradientExchange> exchange, const BucketSizes& sizes);
  ~ExchangedGradients() override;
  ExchangedGradients(const ExchangedGradients&) = delete;
  ExchangedGradients& operator=(const ExchangedGradients&) = delete;

  const ValueMap& run(const Batch& batch, const GradientRun& how) override;
  [[nodiscard]] std::size_t parts() const override { return exchange_->buckets(); }
  ParameterRange finish(std::size_t part) override { return exchange_->finish(part); }
  [[nodiscard]] bool announces() const override { return false; }
  double loss_of(const Batch& batch) override { return mean(inner().loss_of(batch), batch); }
  [[nodiscard]] double mean(double value, const Batch& batch) override;

 private:
  /// This rank's share of the samples: its gradient is an average over them alone.
  [[nodiscard]] double weight(const Batch& batch) const;

  std::shared_ptr<Communicator> ranks_;
  std::shared_ptr<OverlappedExchange> exchange_;
};

}  // namespace d5::detail

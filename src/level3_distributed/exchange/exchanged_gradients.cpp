// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/exchanged_gradients.hpp"

#include "d5/core/error.hpp"

namespace d5::detail {

ExchangedGradients::ExchangedGradients(std::shared_ptr<GradientSource> inner,
                                       std::shared_ptr<Communicator> ranks,
                                       std::shared_ptr<GradientExchange> exchange,
                                       const BucketSizes& sizes)
    : GradientDecorator(std::move(inner)),
      ranks_(std::move(ranks)),
      exchange_(std::make_shared<OverlappedExchange>(std::move(exchange), sizes)) {
  executor().events().add(exchange_);
}

ExchangedGradients::~ExchangedGradients() { executor().events().remove(exchange_.get()); }

const ValueMap& ExchangedGradients::run(const Batch& batch, const GradientRun& how) {
  if (how.write == GradientRun::Write::add) {
    throw Unsupported(
        "gradients that ranks have exchanged cannot be added to: add before the exchange "
        "(GradientLayer::accumulated)");
  }
  const bool overlaps = inner().announces();
  if (overlaps) exchange_->begin(executor().network(), weight(batch), how.all);
  const ValueMap& outputs = inner().run(batch, how);
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
  }
  if (!overlaps) exchange_->begin(executor().network(), weight(batch), how.all);
  exchange_->start_rest();
  return outputs;
}

double ExchangedGradients::mean(double value, const Batch& batch) {
  Tensor sum = Tensor::scalar(inner().mean(value, batch) * weight(batch));
  ranks_->all_reduce(sum);
  return sum.item<double>();
}

double ExchangedGradients::weight(const Batch& batch) const {
  if (batch.global_size == 0) return 1.0 / ranks_->size();
  return static_cast<double>(batch.size) / static_cast<double>(batch.global_size);
}

}  // namespace d5::detail

// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/exchanged_gradients.hpp"

#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

ExchangedGradients::ExchangedGradients(std::shared_ptr<GradientSource> inner,
                                       std::shared_ptr<Communicator> ranks,
                                       std::shared_ptr<GradientExchange> exchange,
                                       const BucketSizes& sizes)
    : GradientDecorator(std::move(inner)),
      ranks_(std::move(ranks)),
      exchange_(std::move(exchange)),
      sizes_(sizes) {
  executor().events().add({std::shared_ptr<void>(), this});  // the destructor ends it
}

ExchangedGradients::~ExchangedGradients() { executor().events().remove(this); }

void ExchangedGradients::lay_out() {
  Network& network = executor().network();
  if (revision_ == network.revision()) return;
  buckets_ = cut_into_buckets(network.parameters(), sizes_);
  bucket_of_.assign(network.parameters().size(), 0);
  for (const GradientBucket& bucket : buckets_) {
    for (std::size_t p = bucket.begin; p < bucket.end; ++p) bucket_of_[p] = bucket.index;
  }
  exchange_->lay_out(network, buckets_);
  revision_ = network.revision();
}

std::vector<ParameterRange> ExchangedGradients::own() {
  lay_out();
  std::vector<ParameterRange> own;
  for (const GradientBucket& bucket : buckets_) own.push_back(exchange_->own(bucket));
  return own;
}

void ExchangedGradients::begin(double weight, bool all) {
  requests_.clear();
  lay_out();
  missing_.clear();
  for (const GradientBucket& bucket : buckets_) missing_.push_back(bucket.end - bucket.begin);
  step_ = {.number = step_.number + 1, .weight = weight, .all = all};
  active_ = true;
}

void ExchangedGradients::gradient_ready(Parameter&, std::size_t index, Stream&) {
  if (!active_) return;
  // Exchanges work on host memory, where a gradient is final at once, without waiting for a stream.
  --missing_[bucket_of_[index]];
  while (requests_.size() < buckets_.size() && missing_[requests_.size()] == 0) start_next();
  // Nothing else progresses the requests while this thread computes.
  for (auto& request : requests_) (void)request->done();
}

void ExchangedGradients::start_next() {
  requests_.push_back(exchange_->start(buckets_[requests_.size()], step_));
}

const ValueMap& ExchangedGradients::run(const Batch& batch, const GradientRun& how) {
  if (how.write == GradientRun::Write::add) {
    throw Unsupported(
        "gradients that ranks have exchanged cannot be added to: add before the exchange "
        "(GradientLayer::accumulated)");
  }
  const bool overlaps = inner().announces();
  GradientRun mine = how;
  double later =
      loss_weight().share(ranks_, batch);  // the weight not yet applied by backpropagation
  if (inner().takes_factor()) mine.factor *= std::exchange(later, 1);
  if (overlaps) begin(later, how.all);
  const ValueMap& outputs = inner().run(batch, mine);
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
  }
  if (!overlaps) begin(later, how.all);
  while (requests_.size() < buckets_.size()) start_next();  // the loss depends on none of these
  active_ = false;
  return outputs;
}

ParameterRange ExchangedGradients::finish(std::size_t bucket) {
  requests_[bucket]->wait();
  return exchange_->own(buckets_[bucket]);
}

bool ExchangedGradients::in_shares() {
  if (in_shares_) return *in_shares_;
  std::size_t parameters = 0;
  for (const ParameterRange& range : own()) parameters += range.end - range.begin;
  in_shares_ = ranks_.any(parameters < bucket_of_.size());
  return *in_shares_;
}

double ExchangedGradients::loss_of(const Batch& batch) {
  return loss_weight().join(ranks_, inner().loss_of(batch), batch);
}

double ExchangedGradients::loss_of_run(const ValueMap& outputs, const Batch& batch) {
  return loss_weight().join(ranks_, inner().loss_of_run(outputs, batch), batch);
}

}  // namespace d5::detail

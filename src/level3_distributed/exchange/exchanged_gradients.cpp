// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/exchanged_gradients.hpp"

#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void OverlappedExchange::lay_out(Network& network) {
  buckets_ = cut_into_buckets(network.parameters(), sizes_);
  bucket_of_.assign(network.parameters().size(), 0);
  for (const GradientBucket& bucket : buckets_) {
    for (std::size_t p = bucket.begin; p < bucket.end; ++p) bucket_of_[p] = bucket.index;
  }
  exchange_->lay_out(network, buckets_);
  revision_ = network.revision();
}

void OverlappedExchange::begin(Network& network, double weight, bool all) {
  requests_.clear();
  if (revision_ != network.revision()) lay_out(network);
  missing_.resize(buckets_.size());
  for (const GradientBucket& bucket : buckets_) missing_[bucket.index] = bucket.end - bucket.begin;
  ++step_.number;
  step_.weight = weight;
  step_.all = all;
  started_ = 0;
  active_ = true;
}

void OverlappedExchange::gradient_ready(Parameter&, std::size_t index, Stream&) {
  if (!active_) return;
  // Exchanges take the host's memory, where a gradient is final at once: no stream to wait for.
  --missing_[bucket_of_[index]];
  while (started_ < buckets_.size() && missing_[started_] == 0) start_next();
  // Nothing else moves those under way on while this thread computes.
  for (auto& request : requests_) (void)request->done();
}

void OverlappedExchange::start_next() {
  requests_.push_back(exchange_->start(buckets_[started_++], step_));
}

void OverlappedExchange::start_rest() {
  while (started_ < buckets_.size()) start_next();
  active_ = false;
}

ParameterRange OverlappedExchange::finish(std::size_t i) {
  requests_[i]->wait();
  return exchange_->own(buckets_[i]);
}

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
  GradientRun mine = how;
  double later =
      loss_weight().share(ranks_, batch);  // what backpropagation has not multiplied by already
  if (inner().takes_factor()) mine.factor *= std::exchange(later, 1);
  if (overlaps) exchange_->begin(executor().network(), later, how.all);
  const ValueMap& outputs = inner().run(batch, mine);
  if (executor().ended_early()) {
    throw Unsupported("an observer ended the run early, but other ranks wait for its gradients");
  }
  if (!overlaps) exchange_->begin(executor().network(), later, how.all);
  exchange_->start_rest();
  return outputs;
}

ParameterRange ExchangedGradients::finish(std::size_t part) {
  const ParameterRange mine = exchange_->finish(part);
  finished_ = (part == 0 ? 0 : finished_) + mine.end - mine.begin;
  return mine;
}

bool ExchangedGradients::in_shares() {
  if (!in_shares_) in_shares_ = ranks_.any(finished_ < executor().network().parameters().size());
  return *in_shares_;
}

double ExchangedGradients::loss_of(const Batch& batch) {
  return loss_weight().join(ranks_, inner().loss_of(batch), batch);
}

double ExchangedGradients::loss_of_run(const ValueMap& outputs, const Batch& batch) {
  return loss_weight().join(ranks_, inner().loss_of_run(outputs, batch), batch);
}

}  // namespace d5::detail

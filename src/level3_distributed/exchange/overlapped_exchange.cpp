// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/exchange/overlapped_exchange.hpp"

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

}  // namespace d5::detail
